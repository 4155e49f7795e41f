FROM node:24-slim AS built
WORKDIR /app
COPY package.json package-lock.json ./
# With the optional ones: the bundler's program is one of them.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build-service.js && node scripts/build-dashboard.js

FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
COPY bin ./bin
COPY config ./config
COPY --from=built /app/build ./build
COPY --from=built /app/dist ./dist
RUN mkdir -m 700 data && mkdir compiled && chown node:node data compiled
USER node
ENV MAILHORN_HTTP_LISTEN=0.0.0.0:3000 \
    MAILHORN_DNS_LISTEN=0.0.0.0:5300 \
    NODE_COMPILE_CACHE=/app/compiled \
    MALLOC_ARENA_MAX=1
VOLUME /app/data
EXPOSE 3000 5300/udp 5300/tcp
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=16", "build/main.js"]
