/** Links of ours in emails: where they lead, what is there, and who is noted. Part of the composition root. */
import type { Config } from './config/config.ts'
import type { Route } from './http/route.ts'
import { broadcastLinkRoutes } from './http/routes/broadcast-links.ts'
import { trackingRoutes } from './http/routes/tracking.ts'
import { unsubscribeRoutes } from './http/routes/unsubscribe.ts'
import type { Parts } from './parts.ts'
import type { LinkTermsIds } from './store/mail/link-terms.ts'
import { createVisitBook } from './tracking/visit-book.ts'

export interface Links {
  routes: Route[]
  /** Where nothing but links is to be found; undefined where they lead to the same host as everything else. */
  host: string | undefined
  /** On what terms links are made now; resolves once `open` has been called. */
  terms(): Promise<LinkTermsIds>
  /** @param baseUrl of the door */
  open(baseUrl: string): Promise<void>
}

/** @param started gets what is to be closed, in the order of the starts */
export function prepareLinks(
  { config, clock, log, store, secrets }: Parts,
  started: (() => unknown)[],
): Links {
  const terms = Promise.withResolvers<LinkTermsIds>()
  const visits = createVisitBook({
    run: store.run,
    clock,
    onError: error =>
      log.warn({ err: error }, 'opens and clicks could not be recorded; they are tried again'),
    onLeftOut: count => log.warn({ count }, 'more opens and clicks came than can be recorded'),
  })
  started.push(visits.close)
  return {
    routes: [
      ...trackingRoutes({ secrets, visits, clock }),
      ...unsubscribeRoutes({ secrets, store, clock }),
      ...broadcastLinkRoutes(store),
    ],
    host: linkHostOf(config),
    terms: () => terms.promise,
    async open(baseUrl) {
      terms.resolve(await store.run('linkTerms', { baseUrl: config.tracking.baseUrl || baseUrl }))
    },
  }
}

function linkHostOf({ tracking, http }: Config): string | undefined {
  const host = URL.parse(tracking.baseUrl)?.host
  return host === URL.parse(http.baseUrl)?.host ? undefined : host
}
