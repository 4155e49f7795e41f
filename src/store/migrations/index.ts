/**
 * All migrations, oldest first. A released migration never changes. Called by `store/migrate.ts` when the
 * writer starts.
 */
import type { Kysely } from 'kysely'
import { up as mainPath } from './001-main-path.ts'
import { up as templates } from './003-templates.ts'
import { up as accounts } from './004-accounts.ts'
import { up as reading } from './005-reading.ts'
import { up as scheduled } from './006-scheduled.ts'
import { up as shares } from './007-shares.ts'
import { up as retention } from './008-retention.ts'
import { up as tls } from './009-tls.ts'
import { up as blobPieces } from './010-blob-pieces.ts'
import { up as siteStates } from './011-site-states.ts'
import { up as steering } from './012-steering.ts'
import { up as operatorAlerts } from './013-operator-alerts.ts'
import { up as paths } from './014-paths.ts'
import { up as keyRotation } from './015-key-rotation.ts'
import { up as domainChecks } from './016-domain-checks.ts'
import { up as reports } from './017-reports.ts'
import { up as submittedMessages } from './019-submitted-messages.ts'
import { up as inboundMessages } from './020-inbound-messages.ts'
import { up as contacts } from './021-contacts.ts'
import { up as broadcasts } from './022-broadcasts.ts'
import { up as tracking } from './023-tracking.ts'
import { up as webhooks } from './024-webhooks.ts'
import { up as certificates } from './025-certificates.ts'
import { up as lists } from './028-lists.ts'
import { up as dashboard } from './030-dashboard.ts'
import { up as propertyDefinitions } from './031-property-definitions.ts'
import { up as visitedUrls } from './033-visited-urls.ts'
import { up as oneSigma } from './034-one-sigma.ts'
import { up as trackingHosts } from './035-tracking-hosts.ts'
import { up as inboundReading } from './036-inbound-reading.ts'
import { up as signInPlaces } from './037-sign-in-places.ts'
import { up as simulated } from './040-simulated.ts'
import { up as inboundReadingCount } from './041-inbound-reading-count.ts'
import { up as reportAddressKind } from './042-report-address-kind.ts'
import { up as inboundAutomatic } from './043-inbound-automatic.ts'
import { up as accessTokens } from './044-access-tokens.ts'
import { up as templateDrafts } from './045-template-drafts.ts'
import { up as topicVisibility } from './046-topic-visibility.ts'
import { up as webhookViews } from './047-webhook-views.ts'
import { up as domainClaims } from './048-domain-claims.ts'
import { up as requestLog } from './049-request-log.ts'
import { up as webhookDialect } from './050-webhook-dialect.ts'
import { up as dsn } from './051-dsn.ts'
import type { Columns } from './columns.ts'

export interface Migration {
  name: string
  up(db: Kysely<unknown>, columns: Columns): Promise<void>
}

export const migrations: readonly Migration[] = [
  { name: '001-main-path', up: mainPath },
  { name: '003-templates', up: templates },
  { name: '004-accounts', up: accounts },
  { name: '005-reading', up: reading },
  { name: '006-scheduled', up: scheduled },
  { name: '007-shares', up: shares },
  { name: '008-retention', up: retention },
  { name: '009-tls', up: tls },
  { name: '010-blob-pieces', up: blobPieces },
  { name: '011-site-states', up: siteStates },
  { name: '012-steering', up: steering },
  { name: '013-operator-alerts', up: operatorAlerts },
  { name: '014-paths', up: paths },
  { name: '015-key-rotation', up: keyRotation },
  { name: '016-domain-checks', up: domainChecks },
  { name: '017-reports', up: reports },
  { name: '019-submitted-messages', up: submittedMessages },
  { name: '020-inbound-messages', up: inboundMessages },
  { name: '021-contacts', up: contacts },
  { name: '022-broadcasts', up: broadcasts },
  { name: '023-tracking', up: tracking },
  { name: '024-webhooks', up: webhooks },
  { name: '025-certificates', up: certificates },
  { name: '028-lists', up: lists },
  { name: '030-dashboard', up: dashboard },
  { name: '031-property-definitions', up: propertyDefinitions },
  { name: '033-visited-urls', up: visitedUrls },
  { name: '034-one-sigma', up: oneSigma },
  { name: '035-tracking-hosts', up: trackingHosts },
  { name: '036-inbound-reading', up: inboundReading },
  { name: '037-sign-in-places', up: signInPlaces },
  { name: '040-simulated', up: simulated },
  { name: '041-inbound-reading-count', up: inboundReadingCount },
  { name: '042-report-address-kind', up: reportAddressKind },
  { name: '043-inbound-automatic', up: inboundAutomatic },
  { name: '046-topic-visibility', up: topicVisibility },
  { name: '047-webhook-views', up: webhookViews },
  { name: '048-domain-claims', up: domainClaims },
  { name: '049-request-log', up: requestLog },
  { name: '044-access-tokens', up: accessTokens },
  { name: '045-template-drafts', up: templateDrafts },
  { name: '050-webhook-dialect', up: webhookDialect },
  { name: '051-dsn', up: dsn },
]
