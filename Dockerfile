# The program with its own Node runtime on a base without any: what `npm run package` makes, and nothing else.
FROM node:24-slim AS built
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build-service.js && node scripts/build-dashboard.js && node scripts/package.ts --tree --out /out && mv /out/mailhorn-* /out/mailhorn

FROM debian:12-slim
COPY --from=built /out/mailhorn /usr/lib/mailhorn
RUN useradd --system --user-group --uid 999 --home-dir /var/lib/mailhorn --no-create-home mailhorn && mkdir -m 700 -p /var/lib/mailhorn /var/cache/mailhorn && chown mailhorn:mailhorn /var/lib/mailhorn /var/cache/mailhorn && ln -s ../lib/mailhorn/bin/mailhorn /usr/bin/mailhorn
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
