# The control plane on a base of your own. It takes glibc 2.28, libstdc++ and libgcc, as the one named here has them.
#   npm run images -- --archives --output <folder>
#   docker build --file deploy/images/server.Dockerfile --build-arg BASE=<image> <folder>
ARG BASE=gcr.io/distroless/cc-debian12
FROM ${BASE}
ARG TARGETARCH=amd64
ADD server-${TARGETARCH}.tar.gz /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV NODE_ENV=production
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
ENV BINNACLE_ENVIRONMENT=production
ENV BINNACLE_HOST=0.0.0.0
ENV BINNACLE_DATA_DIR=/var/lib/binnacle
ENV BINNACLE_SANDBOX=off
EXPOSE 8080 8081 9090
WORKDIR /app
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=8", "/app/server.js"]
