"""Writes python.jsonl: what SciPy and statsmodels compute, one case a line, as {"function", "arguments", "result"}.

    cd packages/stats/test/reference && python3 reference.py > python.jsonl

Made with SciPy 1.17.1 and statsmodels 0.15.0, in a virtual environment: pip install scipy statsmodels
"""

import json

import numpy as np
import statsmodels.api as sm
from scipy import special, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

random = np.random.default_rng(20240607)


def case(function, arguments, result):
    print(json.dumps({"function": function, "arguments": arguments, "result": result}))


def interval(estimate, ends):
    return {"estimate": float(estimate), "low": float(ends[0]), "high": float(ends[1])}


for x in [-30, -4, -1, 0, 2.5, 5]:
    case("normalCdf", [x], float(special.ndtr(x)))
for p in [1e-50, 0.01, 0.5, 0.97, 0.999]:
    case("normalQuantile", [p], float(special.ndtri(p)))
for df in [1, 7, 33, 2000]:
    for x in [-50, -3, -0.2, 0.9, 4]:
        case("tCdf", [x, df], float(stats.t.cdf(x, df)))
    for p in [0.001, 0.025, 0.3, 0.95]:
        case("tQuantile", [p, df], float(stats.t.ppf(p, df)))
for a, b in [(0.3, 2), (1, 34), (18, 17), (900, 4000)]:
    for p in [0.001, 0.025, 0.5, 0.975]:
        case("betaQuantile", [p, a, b], float(stats.beta.ppf(p, a, b)))
for k, n, p in [(0, 3, 0.2), (2, 3, 0.2), (60, 170, 0.4), (480, 1000, 0.5)]:
    case("binomialCdf", [k, n, p], float(stats.binom.cdf(k, n, p)))

for k, n in [(0, 1), (1, 1), (0, 34), (34, 34), (22, 34), (3, 170), (70000, 100000)]:
    for confidence in [0.8, 0.95, 0.99]:
        for function, method in [("wilson", "wilson"), ("clopperPearson", "beta")]:
            ends = proportion_confint(k, n, alpha=1 - confidence, method=method)
            case(function, [k, n, {"confidence": confidence}], interval(k / n, ends))

tables = [(0, 1, 1, 1), (0, 5, 0, 9), (5, 5, 9, 9), (0, 20, 20, 20), (7, 34, 19, 34), (300, 1000, 290, 900), (48, 80, 56, 70), (3, 10, 9, 10)]
for k1, n1, k2, n2 in tables:
    for confidence in [0.9, 0.95]:
        ends = confint_proportions_2indep(k2, n2, k1, n1, method="newcomb", compare="diff", alpha=1 - confidence)
        case("newcombe", [k1, n1, k2, n2, {"confidence": confidence}], interval(k2 / n2 - k1 / n1, ends))

for sizes in [[1, 1, 1], [5] * 34, [1, 2, 3, 4, 5], [30, 1, 1]]:
    tasks = np.repeat(np.arange(len(sizes)), sizes)
    values = np.round(random.normal(size=len(sizes)).repeat(sizes) + random.normal(size=len(tasks)), 3)
    fit = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": tasks}, use_t=True)
    counts = {"se": float(fit.bse[0]), "df": len(sizes) - 1, "n": len(values), "clusters": len(sizes)}
    case("clusteredMean", [values.tolist(), tasks.tolist()], {**interval(fit.params[0], fit.conf_int()[0]), **counts})

for count in [2, 9, 34]:
    a, b = np.round(random.normal(size=count), 3), np.round(random.normal(0.4, size=count), 3)
    test = stats.ttest_rel(b, a)
    rows = [[{"task": task, "value": value} for task, value in enumerate(values.tolist())] for values in (a, b)]
    rest = {"se": float((b - a).std(ddof=1) / count**0.5), "p": float(test.pvalue), "tasks": list(range(count)), "differences": (b - a).tolist()}
    case("pairedDifference", rows, {**interval((b - a).mean(), test.confidence_interval()), **rest})

for differences in [[0.1, 0.2, 0.3], [0.1, 0.2, -0.3], [0.2] * 5 + [-0.2] * 3, np.round(random.normal(0.3, size=14), 2).tolist()]:
    test = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf)
    case("signFlip", [differences], {"p": float(test.pvalue), "exact": True})
for b, c in [(0, 4), (6, 6), (2, 11), (40, 25)]:
    case("mcnemarExact", [b, c], float(mcnemar([[9, b], [c, 9]], exact=True).pvalue))
for p in [[0.01, 0.04, 0.03], [0.5, 0.5], np.round(random.random(12) ** 2, 4).tolist()]:
    case("holm", [p], multipletests(p, method="holm")[1].tolist())
for q in [0, 0.3, 0.5, 0.9, 1]:
    case("quantile", [[0.4, 7, -2, 3.5], q], float(np.quantile([0.4, 7, -2, 3.5], q)))
