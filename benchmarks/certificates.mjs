/**
 * What NODE_EXTRA_CA_CERTS names, if it was set; and takes it out of the environment of what is measured. Where it names the
 * certificates of a system, Node 20 reads them all at each start: an empty script then takes three times as long,
 * and whatever is compared with one looks better than it is.
 *
 * @type {string | undefined}
 */
export const certificates = process.env.NODE_EXTRA_CA_CERTS
delete process.env.NODE_EXTRA_CA_CERTS
