# The program with its own Node runtime on a base without any: what `npm run package` makes. Beside it only the two
# programs by which PostgreSQL is backed up.
FROM node:24-trixie-slim AS built
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build-service.js && node scripts/build-dashboard.js && node scripts/package.ts --tree --out /out && mv /out/mailhorn-* /out/mailhorn

FROM debian:13-slim
# The whole package of the two programs would bring Perl, 60 MB. They work with servers up to their own version, which
# is that of compose.yaml.
RUN apt-get update && apt-get install -y --no-install-recommends libpq5 && cd /tmp && apt-get download postgresql-client-17 \
  && dpkg-deb --fsys-tarfile postgresql-client-17_*.deb | tar -x -C / ./usr/lib/postgresql/17/bin/pg_dump ./usr/lib/postgresql/17/bin/pg_restore \
  && ln -s ../lib/postgresql/17/bin/pg_dump ../lib/postgresql/17/bin/pg_restore /usr/bin/ \
  && rm -rf postgresql-client-17_*.deb /var/lib/apt/lists/* /var/cache/apt/*
COPY --from=built /out/mailhorn /usr/lib/mailhorn
RUN useradd --system --user-group --uid 999 --home-dir /var/lib/mailhorn --no-create-home mailhorn && mkdir -m 700 -p /var/lib/mailhorn /var/cache/mailhorn /var/backups/mailhorn && chown mailhorn:mailhorn /var/lib/mailhorn /var/cache/mailhorn /var/backups/mailhorn && ln -s ../lib/mailhorn/bin/mailhorn /usr/bin/mailhorn
USER mailhorn
# Container engines let every user bind low ports (net.ipv4.ip_unprivileged_port_start=0), so no capability is needed.
ENV MAILHORN_DATA_DIR=/var/lib/mailhorn \
    MAILHORN_HTTP_LISTEN=0.0.0.0:3000 \
    MAILHORN_HTTP_TLS_LISTEN=0.0.0.0:443 \
    MAILHORN_ACME_LISTEN=0.0.0.0:80 \
    MAILHORN_DNS_LISTEN=0.0.0.0:53 \
    MAILHORN_SMTP_INBOUND_LISTEN=0.0.0.0:25 \
    MAILHORN_SMTP_SUBMISSION_LISTEN=0.0.0.0:587 \
    MAILHORN_SMTP_SUBMISSION_TLS_LISTEN=0.0.0.0:465 \
    NODE_COMPILE_CACHE=/var/cache/mailhorn
VOLUME /var/lib/mailhorn
EXPOSE 25 53/udp 53/tcp 80 443 465 587 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["/usr/lib/mailhorn/node_modules/.bin/node", "-e", "fetch('http://127.0.0.1:' + process.env.MAILHORN_HTTP_LISTEN.split(':').pop() + '/readyz').then(reply => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
CMD ["mailhorn", "serve"]
