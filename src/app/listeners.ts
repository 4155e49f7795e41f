/**
 * The HTTP listeners: plain, TLS, one for ACME challenges alone, and one for metrics alone. Part of the
 * composition root.
 *
 * Called by `http.ts`, which binds the plain listener first, so that the URL of the API is known when the
 * routes are built.
 */
import type Koa from 'koa'
import {
  bindHttpServer,
  type HttpServer,
  type ServerOptions,
  startHttpServer,
} from '../interfaces/api/server/server.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import type { AppContext } from './context.ts'
import { fdBudget } from './fd-budget.ts'
import { openLinkCertificates } from './link-certificates.ts'

/** Time in ms that requests in progress have when the service stops. */
export const HTTP_GRACE_MS = 5_000

/** Programs that read metrics keep few connections. */
const METRICS_CONNECTIONS_MAX = 16

/** Opens HTTP listeners, all with the same limits. */
export class HttpListeners {
  readonly #context: AppContext
  readonly #headers: Readonly<Record<string, string>>
  readonly #onError: (error: Error) => void

  /** @param headers headers of replies to input that is not a valid request */
  constructor(context: AppContext, headers: Readonly<Record<string, string>>) {
    this.#context = context
    this.#headers = headers
    const failed = throttledLog(
      context,
      'error',
      'http_listener_failed',
      'An HTTP connection could not be accepted',
    )
    this.#onError = error => failed({ err: error })
  }

  /** Binds the plain listener. It answers once it is told which application to serve. */
  async bindPlain(): Promise<HttpServer> {
    const { http } = this.#context.config
    return this.#closing(await bindHttpServer(this.#optionsAt(http.listen ?? { host: '127.0.0.1', port: 0 })))
  }

  /** Starts the TLS listener. @returns its address; null when it is off */
  async startSecure(app: Koa): Promise<{ address: string; port: number } | null> {
    const { config, security } = this.#context
    if (!config.http.tlsListen) return null
    const { current, onChange, close } = security.certificates
    const certificates = { current, onChange, close, contextFor: await openLinkCertificates(this.#context) }
    const server = await startHttpServer(app, this.#optionsAt(config.http.tlsListen), certificates)
    return this.#closing(server).address()
  }

  /** Starts the listener for ACME challenges, if it has an address of its own. */
  async startChallenges(app: Koa): Promise<void> {
    const { acme } = this.#context.config
    if (acme.enabled && acme.listen) this.#closing(await startHttpServer(app, this.#optionsAt(acme.listen)))
  }

  /**
   * Starts the listener for metrics, if it has an address of its own.
   * @returns its address; null when it is off
   */
  async startMetrics(app: Koa): Promise<{ address: string; port: number } | null> {
    const { listen } = this.#context.config.metrics
    if (!listen) return null
    const options = { ...this.#optionsAt(listen), maxConnections: METRICS_CONNECTIONS_MAX }
    return this.#closing(await startHttpServer(app, options)).address()
  }

  #closing(server: HttpServer): HttpServer {
    this.#context.stack.defer(() => server.close(HTTP_GRACE_MS))
    return server
  }

  #optionsAt({ host, port }: { host: string; port: number }): ServerOptions {
    const { config, clock } = this.#context
    return {
      host,
      port,
      clock,
      maxConnections: fdBudget(config).http,
      maxPerClient: config.http.connectionsPerClient,
      trustedProxies: config.http.trustedProxies,
      headers: this.#headers,
      onError: this.#onError,
    }
  }
}
