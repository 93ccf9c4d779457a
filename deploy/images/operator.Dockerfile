# The operator on a base of your own. It takes glibc 2.28, libstdc++, libgcc and the certificates of public authorities.
#   npm run images -- --archives --output <folder>
#   docker build --file deploy/images/operator.Dockerfile --build-arg BASE=<image> <folder>
ARG BASE=gcr.io/distroless/cc-debian12
FROM ${BASE}
ARG TARGETARCH=amd64
ADD operator-${TARGETARCH}.tar.gz /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV NODE_ENV=production
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
ENV HOME=/tmp
ENV MALLOC_ARENA_MAX=1
ENV MALLOC_MMAP_THRESHOLD_=65536
ENV MALLOC_TRIM_THRESHOLD_=65536
EXPOSE 8081
WORKDIR /app
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "--liftoff-only", "/app/operator.js"]
