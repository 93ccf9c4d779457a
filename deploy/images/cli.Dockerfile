# The command line on a base of your own, such as one with a shell and git for pipelines. It takes glibc 2.28, libstdc++ and libgcc.
#   npm run images -- --archives --output <folder>
#   docker build --file deploy/images/cli.Dockerfile --build-arg BASE=<image> <folder>
ARG BASE=gcr.io/distroless/cc-debian12
FROM ${BASE}
ARG TARGETARCH=amd64
ADD cli-${TARGETARCH}.tar.gz /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV NODE_ENV=production
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
ENV HOME=/tmp
WORKDIR /app
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/binnacle"]
