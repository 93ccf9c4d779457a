/** Annotations with which an object can ask for hosts that nobody sees. */
export const UNLISTED_NAMES: readonly string[] = [
  "nginx.ingress.kubernetes.io/server-alias",
  "nginx.ingress.kubernetes.io/server-snippet",
  "nginx.ingress.kubernetes.io/configuration-snippet",
  "custom.prefix.example/auth-snippet",
  "nginx.org/server-snippets",
  "nginx.org/location-snippets",
  "haproxy.org/backend-config-snippet",
  "haproxy-ingress.github.io/server-alias-regex",
  "haproxy-ingress.github.io/config-backend",
  "ingress.kubernetes.io/redirect-from",
  "konghq.com/host-aliases",
  "appgw.ingress.kubernetes.io/hostname-extension",
  "alb.ingress.kubernetes.io/conditions.web",
  "zalando.org/skipper-routes",
  "getambassador.io/config",
  "traefik.ingress.kubernetes.io/rule-type",
  "traefik.ingress.kubernetes.io/router.priority",
];

/** Others that charts use every day. */
export const HARMLESS_NAMES: readonly string[] = [
  "nginx.ingress.kubernetes.io/rewrite-target",
  "cert-manager.io/cluster-issuer",
  "external-dns.alpha.kubernetes.io/hostname",
  "traefik.ingress.kubernetes.io/router.middlewares",
];
