/**
 * All migrations, oldest first. A migration never changes once it is released. Called by `migrate.ts` when
 * the writer starts.
 */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'
import { up as schema } from './001-schema/schema.ts'
import { up as destinations } from './002-destinations.ts'
import { up as alertEnds } from './003-alert-ends.ts'
import { up as explanations } from './004-explanations.ts'
import { up as searchDetails } from './005-search-details.ts'
import { up as broadcastAuthors } from './006-broadcast-authors.ts'
import { up as noUnsubscribeReasons } from './007-no-unsubscribe-reasons.ts'
import { up as holdsByTime } from './008-holds-by-time.ts'
import { up as clientFacts } from './009-client-facts.ts'
import { up as undoOfBroadcasts } from './010-undo-of-broadcasts.ts'
import { up as suspendedAccounts } from './011-suspended-accounts.ts'
import { up as alertSilences } from './012-alert-silences.ts'
import { up as alertNotices } from './013-alert-notices.ts'
import { up as deletedAccounts } from './014-deleted-accounts.ts'
import { up as holdsBySender } from './015-holds-by-sender.ts'
import { up as broadcastOutcomes } from './016-broadcast-outcomes.ts'
import { up as domainBrands } from './017-domain-brands.ts'
import { up as inboundRoutes } from './019-inbound-routes.ts'
import { up as contactActivity } from './020-contact-activity.ts'
import { up as contactSources } from './021-contact-sources.ts'
import { up as broadcastRates } from './022-broadcast-rates.ts'
import { up as inbox } from './023-inbox.ts'
import { up as broadcastAttachments } from './024-broadcast-attachments.ts'

export interface Migration {
  name: string
  up(db: Kysely<unknown>, columns: Columns): Promise<void>
}

export const migrations: readonly Migration[] = [
  { name: '001-schema', up: schema },
  { name: '002-destinations', up: destinations },
  { name: '003-alert-ends', up: alertEnds },
  { name: '004-explanations', up: explanations },
  { name: '005-search-details', up: searchDetails },
  { name: '006-broadcast-authors', up: broadcastAuthors },
  { name: '007-no-unsubscribe-reasons', up: noUnsubscribeReasons },
  { name: '008-holds-by-time', up: holdsByTime },
  { name: '009-client-facts', up: clientFacts },
  { name: '010-undo-of-broadcasts', up: undoOfBroadcasts },
  { name: '011-suspended-accounts', up: suspendedAccounts },
  { name: '012-alert-silences', up: alertSilences },
  { name: '013-alert-notices', up: alertNotices },
  { name: '014-deleted-accounts', up: deletedAccounts },
  { name: '015-holds-by-sender', up: holdsBySender },
  { name: '016-broadcast-outcomes', up: broadcastOutcomes },
  { name: '017-domain-brands', up: domainBrands },
  { name: '019-inbound-routes', up: inboundRoutes },
  { name: '020-contact-activity', up: contactActivity },
  { name: '021-contact-sources', up: contactSources },
  { name: '022-broadcast-rates', up: broadcastRates },
  { name: '023-inbox', up: inbox },
  { name: '024-broadcast-attachments', up: broadcastAttachments },
]
