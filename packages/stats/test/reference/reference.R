# Writes r.jsonl: what R computes, one case a line, as {"function", "arguments", "result"}.
#
#   cd packages/stats/test/reference && Rscript reference.R > r.jsonl
#
# Made with R 4.2.2, sandwich 3.0-2 and jsonlite 1.8.4 (Debian 12: r-base-core, r-cran-sandwich, r-cran-jsonlite).

suppressMessages(library(sandwich))
set.seed(20240607)

case <- function(name, arguments, result) {
  line <- list(`function` = name, arguments = arguments, result = result)
  cat(jsonlite::toJSON(line, auto_unbox = TRUE, digits = NA), "\n", sep = "")
}
list_of <- function(x) I(unname(x)) # a list in JSON, also of one
interval <- function(estimate, ends) list(estimate = estimate, low = ends[1], high = ends[2])

# Distributions

for (x in c(-37, -20, -8.5, -5, -3.0000001, -3, -2.5, -1.96, -1, -0.3, -1e-9, 0, 1e-4, 0.7, 1.5, 2.999, 3, 4, 6, 8))
  case("normalCdf", list(x), pnorm(x))
probabilities <- c(1e-90, 1e-30, 1e-12, 1e-5, 0.001, 0.025, 0.05, 0.2, 0.4999, 0.5, 0.6, 0.8, 0.9, 0.975, 0.99, 0.9999, 1 - 1e-10)
for (p in probabilities) case("normalQuantile", list(p), qnorm(p))
for (df in c(1, 1.5, 2, 3, 4, 10, 33, 100, 1234.5, 1e5, 1e8)) {
  for (x in c(-1e5, -40, -6, -2.0345, -1, -0.1, -1e-7, 0, 0.5, 2, 12)) case("tCdf", list(x, df), pt(x, df))
  for (p in probabilities[probabilities > 1e-13]) case("tQuantile", list(p, df), qt(p, df))
}
shapes <- list(c(0.05, 0.5), c(0.5, 0.5), c(1, 1), c(1, 40), c(2, 3), c(5, 1), c(17, 154), c(3000, 2), c(500, 501), c(1e5, 3e5), c(1e6, 1e6))
for (ab in shapes) for (p in c(0, 1e-6, 0.025, 0.3, 0.5, 0.9, 0.975, 1))
  case("betaQuantile", list(p, ab[1], ab[2]), qbeta(p, ab[1], ab[2]))
for (n in c(0, 1, 2, 7, 34, 170, 1000, 1e6)) for (p in c(0, 1e-6, 0.03, 0.5, 0.641, 1))
  for (k in unique(c(0, floor(n * p * 0.9), floor(n * p), n - 1, n))) if (k >= 0) case("binomialCdf", list(k, n, p), pbinom(k, n, p))

# Proportions

tables <- list(c(0, 1), c(1, 1), c(0, 5), c(5, 5), c(1, 2), c(3, 7), c(0, 34), c(34, 34), c(33, 34), c(1, 170), c(109, 170), c(500, 1000), c(3, 1e6), c(999999, 1e6), c(123456, 1e7))
for (t in tables) for (confidence in c(0.5, 0.9, 0.95, 0.999)) {
  options <- list(confidence = confidence)
  score <- suppressWarnings(prop.test(t[1], t[2], conf.level = confidence, correct = FALSE))
  case("wilson", list(t[1], t[2], options), interval(t[1] / t[2], score$conf.int))
  exact <- binom.test(t[1], t[2], conf.level = confidence)
  case("clopperPearson", list(t[1], t[2], options), interval(t[1] / t[2], exact$conf.int))
}

# Clusters

mean_and_se <- function(values, tasks) {
  fit <- lm(values ~ 1)
  list(estimate = unname(coef(fit)), se = sqrt(vcovCL(fit, cluster = tasks, type = "HC1", cadjust = TRUE)[1, 1]))
}
clustered <- function(values, tasks, confidence) {
  fit <- mean_and_se(values, tasks)
  df <- length(unique(tasks)) - 1
  ends <- fit$estimate + c(-1, 1) * qt((1 + confidence) / 2, df) * fit$se
  case("clusteredMean", list(list_of(values), list_of(tasks), list(confidence = confidence)),
    c(interval(fit$estimate, ends), list(se = fit$se, df = df, n = length(values), clusters = df + 1)))
}

# The definition, not the formula: the proportions that the score test with t and n_eff does not reject.
score_ends <- function(p, n, quantile) {
  rejects <- function(pi) (p - pi)^2 - quantile^2 * pi * (1 - pi) / n
  end <- function(from, to) uniroot(rejects, c(from, to), tol = 1e-16, maxiter = 10000)$root
  c(if (p == 0) 0 else end(0, p * (1 - 1e-12)), if (p == 1) 1 else end(p + (1 - p) * 1e-12, 1))
}
clustered_rate <- function(values, tasks, confidence) {
  sizes <- table(tasks)
  n <- length(values)
  p <- mean(values)
  fewest <- n^2 / sum(sizes^2)
  n_eff <- if (p == 0 || p == 1) fewest else min(n, max(fewest, p * (1 - p) / mean_and_se(values, tasks)$se^2))
  quantile <- if (all(sizes == 1)) qnorm((1 + confidence) / 2) else qt((1 + confidence) / 2, length(sizes) - 1)
  if (all(sizes == 1)) n_eff <- n
  case("rate", list(list_of(values), list_of(tasks), list(confidence = confidence)),
    c(interval(p, score_ends(p, n_eff, quantile)), list(n = n, clusters = length(sizes))))
}

for (sizes in list(c(1, 1), c(5, 5), c(3, 3, 3), rep(1, 20), rep(5, 34), c(1, 2, 3, 4, 5), c(40, 1, 1, 1), sample(1:9, 25, TRUE))) {
  tasks <- rep(paste0("t", seq_along(sizes)), sizes)
  for (spread in c(0, 0.2, 1)) for (confidence in c(0.8, 0.95)) {
    effects <- rnorm(length(sizes), sd = spread)
    values <- round(rep(effects, sizes) + rnorm(length(tasks)), 3)
    order <- sample(length(tasks))
    clustered(values[order], tasks[order], confidence)
    hits <- as.numeric(runif(length(tasks)) < pmin(1, pmax(0, rep(0.6 + 0.4 * effects, sizes))))
    clustered_rate(hits[order], tasks[order], confidence)
  }
  for (same in 0:1) clustered_rate(rep(same, length(tasks)), tasks, 0.95)
}
clustered_rate(rep(c(0, 1), 10), rep(1:10, each = 2), 0.95) # each task half: no spread at all

# Pairs

scores <- function(tasks, values) data.frame(task = tasks, value = values)
for (count in c(2, 3, 8, 34)) for (repeats in c(1, 4)) for (effect in c(0, 0.3)) {
  tasks <- paste0("t", 1:count)
  both <- rnorm(count)
  rows <- function(names, shift) {
    names <- rep(names, repeats)
    scores(names, round(both[match(names, tasks)] + shift + rnorm(length(names)), 3))
  }
  a <- rows(tasks, 0)
  b <- rows(rev(tasks), effect)
  means <- function(rows) sapply(tasks, function(task) mean(rows$value[rows$task == task]))
  differences <- means(b) - means(a)
  test <- t.test(means(b), means(a), paired = TRUE, conf.level = 0.95)
  a <- rbind(a, scores("only-a", 7))
  b <- rbind(scores("only-b", -7), b)
  case("pairedDifference", list(a, b, list(confidence = 0.95)),
    c(interval(mean(differences), test$conf.int), list(se = unname(test$stderr), p = test$p.value,
      tasks = list_of(tasks), differences = list_of(differences))))
}

# Sums of signed whole numbers have an exact distribution for any number of them: one convolution each.
exact_flip <- function(differences) {
  chances <- 1
  for (d in abs(differences)) {
    wide <- numeric(length(chances) + 2 * d)
    at <- seq_along(chances)
    wide[at] <- wide[at] + chances / 2
    wide[at + 2 * d] <- wide[at + 2 * d] + chances / 2
    chances <- wide
  }
  sums <- seq(-sum(abs(differences)), sum(abs(differences)))
  sum(chances[abs(sums) >= abs(sum(differences))])
}
for (differences in list(5, -2, c(1, 1), c(1, -1), c(0, 0, 3), c(0, 0), rep(1, 10), c(3, 1, 4, 1, -5, 9, 2, -6), 1:20, rep(c(0, 2, -1, 1), 6), c(rep(0, 30), 1:6), sample(-9:9, 20, TRUE)))
  case("signFlip", list(list_of(differences)), list(p = exact_flip(differences), exact = TRUE))
for (count in c(24, 34, 100)) for (shift in c(0, 1)) {
  differences <- sample(c(-3:-1, 1:4), count, TRUE) + shift
  case("signFlip", list(list_of(differences), list(seed = count, draws = 10000)), list(p = exact_flip(differences), exact = sum(differences != 0) <= 20))
}
for (t in list(c(0, 0), c(0, 1), c(1, 0), c(3, 3), c(1, 8), c(12, 5), c(0, 30), c(200, 260), c(5000, 5200)))
  case("mcnemarExact", list(t[1], t[2]), if (sum(t) == 0) 1 else binom.test(t[1], sum(t), 0.5)$p.value)

# pass@k and pass^k: a hypergeometric draw of k tries holds no success, or nothing else

for (n in c(1, 2, 5, 10, 200, 5000)) for (c in unique(c(0, 1, floor(n / 3), n - 1, n))) for (k in unique(c(1, 2, 5, floor(n / 2), n))) if (k >= 1 && k <= n) {
  case("passAtK", list(n, c, k), phyper(0, c, n - c, k, lower.tail = FALSE))
  case("passHatK", list(n, c, k), dhyper(k, c, n - c, k))
}

# Several comparisons, sample sizes, quantiles

for (p in list(numeric(0), 0.3, c(0.01, 0.04, 0.03), c(0, 1, 1), rep(0.02, 5), c(0.001, 0.8, 0.02, 0.02, 0.013, 0.5), runif(40)^3))
  case("holm", list(list_of(p)), list_of(p.adjust(p, "holm")))
for (sd in c(0.05, 0.19, 1, 12)) for (alpha in c(0.01, 0.05)) for (power in c(0.5, 0.8, 0.95)) {
  detectable <- function(n) (qt(1 - alpha / 2, n - 1) + qt(power, n - 1)) * sd / sqrt(n)
  for (n in c(2, 5, 34, 500))
    case("minimumDetectableEffect", list(list(sd = sd, n = n, alpha = alpha, power = power)), detectable(n))
  for (effect in c(0.013, 0.05, 0.4)) {
    n <- if (detectable(2) <= effect) 2 else uniroot(function(n) detectable(n) - effect, c(2, 1e9), tol = 1e-10)$root
    case("requiredTasks", list(list(sd = sd, effect = effect, alpha = alpha, power = power)), ceiling(n))
  }
}
for (values in list(4, c(1, 2), c(3, 1, 2), c(5, 5, 5), c(-1.5, 8, 2, 2, 10), round(rnorm(100), 3))) for (q in c(0, 0.1, 0.25, 0.5, 0.75, 0.975, 1))
  case("quantile", list(list_of(values), q), unname(quantile(values, q, type = 7)))

# A bootstrapped count of successes is binomial, so the ends of its interval are known
for (n in c(2, 10, 34, 200)) for (k in unique(floor(n * c(0, 0.3, 0.8, 1))))
  case("bootstrap", list(list_of(rep(c(1, 0), c(k, n - k)))), interval(k / n, qbinom(c(0.025, 0.975), n, k / n) / n))
