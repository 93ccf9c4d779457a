/**
 * Kubernetes describes every Service of a namespace to every pod in it, unless told not to. One named `binnacle` or
 * `binnacle-…` puts variables under our prefix that are nobody's mistake: `BINNACLE_SERVICE_HOST`, and
 * `BINNACLE_PORT=tcp://10.0.0.7:8080`, which only its value tells from the port to listen on.
 */
const NAMED_LIKE_ONE = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const VALUED_LIKE_ONE = /^(tcp|udp|sctp):\/\//;

export function isServiceLink(name: string, value: string): boolean {
  return NAMED_LIKE_ONE.test(name) || (name.endsWith("_PORT") && VALUED_LIKE_ONE.test(value));
}
