/** Every command there is; the writer thread runs them, everybody else names them. */
import { acceptCommands } from './accept/commit.ts'
import { keyCommands } from './accept/key-sweeper.ts'
import { scheduledCommands } from './accept/scheduled.ts'
import { broadcastCommands } from './broadcasts/commands.ts'
import { audienceCommands } from './contacts/audience-commands.ts'
import { contactCommands } from './contacts/contact-commands.ts'
import { deletedAudienceCommands } from './contacts/deleted-audiences.ts'
import { importCommands } from './contacts/import/commands.ts'
import { placingCommands } from './contacts/placing-commands.ts'
import { definitionCommands } from './contacts/property-definitions.ts'
import { segmentCommands } from './contacts/segment-commands.ts'
import { topicCommands } from './contacts/topic-commands.ts'
import { unsubscribeCommands } from './contacts/unsubscribe.ts'
import { domainCommands } from './domains/commands.ts'
import { rotationCommands } from './domains/rotation-commands.ts'
import { recipientCommands } from './events/commands.ts'
import { listInboundCommands } from './inbound/list-commands.ts'
import { receiveCommands } from './inbound/receive-commands.ts'
import { settleCommands } from './inbound/settle.ts'
import { queueCommands } from './queue/commands.ts'
import { deletedDomainCommands } from './queue/deleted-domains.ts'
import { destinationCommands } from './queue/destination-sweeper.ts'
import { expireCommands } from './queue/expire.ts'
import { holdCommands } from './queue/hold.ts'
import { releaseCommands } from './queue/release.ts'
import { retryCommands } from './queue/retry-now.ts'
import { steerCommands } from './queue/steer.ts'
import { warmupCommands } from './queue/warmup-grants.ts'
import { retentionCommands } from './retention/commands.ts'
import { eventSweepCommands } from './retention/event-sweeper.ts'
import { inboundRetentionCommands } from './retention/inbound-commands.ts'
import { metricCommands } from './retention/metric-sweeper.ts'
import { sealCommands } from './search/commands.ts'
import { accountCommands } from './store/accounts/accounts.ts'
import { apiKeyCommands } from './store/accounts/api-keys.ts'
import { signInPlaceCommands } from './store/accounts/sign-in-places.ts'
import { suppressionCommands } from './store/accounts/suppressions.ts'
import { userCommands } from './store/accounts/users.ts'
import { certificateCommands } from './store/certificates.ts'
import { linkTermsCommands } from './store/mail/link-terms.ts'
import { shareCommands } from './store/mail/shares.ts'
import { alertCommands } from './store/queue/operator-alerts.ts'
import { siteCapCommands } from './store/queue/site-caps.ts'
import { siteCommands } from './store/queue/site-states.ts'
import { tlsCommands } from './store/queue/tls.ts'
import { inboundCommands } from './store/received/inbound.ts'
import { reportCommands } from './store/received/reports.ts'
import { settingCommands } from './store/settings.ts'
import { templateCommands } from './templates/commands.ts'
import { preferenceCommands } from './tracking/preferences.ts'
import { visitCommands } from './tracking/record-visits.ts'
import { webhookCommands } from './webhooks/commands.ts'
import { webhookDispatchCommands } from './webhooks/dispatch-commands.ts'

export const commands = {
  ...settingCommands,
  ...alertCommands,
  ...userCommands,
  ...signInPlaceCommands,
  ...accountCommands,
  ...apiKeyCommands,
  ...domainCommands,
  ...rotationCommands,
  ...templateCommands,
  ...audienceCommands,
  ...contactCommands,
  ...placingCommands,
  ...importCommands,
  ...segmentCommands,
  ...definitionCommands,
  ...topicCommands,
  ...unsubscribeCommands,
  ...deletedAudienceCommands,
  ...acceptCommands,
  ...scheduledCommands,
  ...broadcastCommands,
  ...keyCommands,
  ...releaseCommands,
  ...retryCommands,
  ...holdCommands,
  ...destinationCommands,
  ...steerCommands,
  ...queueCommands,
  ...deletedDomainCommands,
  ...expireCommands,
  ...siteCommands,
  ...siteCapCommands,
  ...warmupCommands,
  ...recipientCommands,
  ...suppressionCommands,
  ...sealCommands,
  ...tlsCommands,
  ...retentionCommands,
  ...inboundRetentionCommands,
  ...metricCommands,
  ...eventSweepCommands,
  ...shareCommands,
  ...reportCommands,
  ...settleCommands,
  ...webhookCommands,
  ...webhookDispatchCommands,
  ...inboundCommands,
  ...receiveCommands,
  ...linkTermsCommands,
  ...listInboundCommands,
  ...certificateCommands,
  ...visitCommands,
  ...preferenceCommands,
}

export type Commands = typeof commands
