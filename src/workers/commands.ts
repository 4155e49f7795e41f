/**
 * Lists every command, that is, every write to the database. The writer thread runs commands; other threads
 * call them by name.
 */
import { acceptCommands } from '../pipeline/accept/commit.ts'
import { idempotencyKeyCommands } from '../pipeline/accept/key-sweeper.ts'
import { scheduledCommands } from '../pipeline/accept/scheduled.ts'
import { broadcastCommands } from '../pipeline/broadcasts/commands.ts'
import { deletionCommands } from '../pipeline/deletion/commands.ts'
import { applyReportCommands } from '../pipeline/inbound/apply-report.ts'
import { listInboundCommands } from '../pipeline/inbound/list-commands.ts'
import { receiveCommands } from '../pipeline/inbound/receive-commands.ts'
import { reportCommands } from '../pipeline/inbound/report-rows.ts'
import { adminCommands } from '../pipeline/queue/admin-commands.ts'
import { queueCommands } from '../pipeline/queue/commands.ts'
import { deletedDomainCommands } from '../pipeline/queue/deleted-domains.ts'
import { destinationStateCommands } from '../pipeline/queue/destination-states.ts'
import { destinationCommands } from '../pipeline/queue/destination-sweeper.ts'
import { domainBanCommands } from '../pipeline/queue/domain-bans.ts'
import { expireCommands } from '../pipeline/queue/expire.ts'
import { holdCommands } from '../pipeline/queue/hold.ts'
import { releaseCommands } from '../pipeline/queue/release.ts'
import { restoredCommands } from '../pipeline/queue/restored.ts'
import { serviceModeCommands } from '../pipeline/queue/service-mode.ts'
import { tlsCommands } from '../pipeline/queue/tls-rows.ts'
import { warmupCommands } from '../pipeline/queue/warmup-grants.ts'
import { preferenceCommands } from '../pipeline/tracking/preferences.ts'
import { visitCommands } from '../pipeline/tracking/record-visits.ts'
import { webhookCommands } from '../pipeline/webhooks/commands.ts'
import { webhookDispatchCommands } from '../pipeline/webhooks/dispatch-commands.ts'
import { accessTokenCommands } from '../resources/accounts/access-token-rows.ts'
import { accountCommands } from '../resources/accounts/account-rows.ts'
import { apiKeyCommands } from '../resources/accounts/api-key-rows.ts'
import { signInPlaceCommands } from '../resources/accounts/known-places.ts'
import { userCommands } from '../resources/accounts/user-rows.ts'
import { noticeCommands } from '../resources/alerts/notices.ts'
import { alertCommands } from '../resources/alerts/operator-alerts.ts'
import { silenceCommands } from '../resources/alerts/silences.ts'
import { certificateCommands } from '../resources/certificates/certificate-rows.ts'
import { accountContactCommands } from '../resources/contacts/account-contact-commands.ts'
import { audienceCommands } from '../resources/contacts/audience-commands.ts'
import { contactCommands } from '../resources/contacts/contact-commands.ts'
import { deletedAudienceCommands } from '../resources/contacts/deleted-audiences.ts'
import { importCommands } from '../resources/contacts/import/commands.ts'
import { definitionCommands } from '../resources/contacts/property-definitions.ts'
import { segmentCommands } from '../resources/contacts/segment-commands.ts'
import { topicCommands } from '../resources/contacts/topic-commands.ts'
import { unsubscribeCommands } from '../resources/contacts/unsubscribe.ts'
import { claimCommands } from '../resources/domains/claim-commands.ts'
import { domainCommands } from '../resources/domains/commands.ts'
import { rotationCommands } from '../resources/domains/rotation-commands.ts'
import { inboundRouteLogCommands } from '../resources/emails/inbound-route-log.ts'
import { inboundRouteCommands } from '../resources/emails/inbound-routes.ts'
import { inboundCommands } from '../resources/emails/inbound-rows.ts'
import { inboundUnreadCommands } from '../resources/emails/inbound-unread.ts'
import { linkTermsCommands } from '../resources/emails/link-terms.ts'
import { shareCommands } from '../resources/emails/share-rows.ts'
import { broadcastOutcomeCommands } from '../resources/events/broadcast-outcomes.ts'
import { recipientCommands } from '../resources/events/commands.ts'
import { dsnCommands } from '../resources/events/dsn-notices.ts'
import { requestLogCommands } from '../resources/request-log/commands.ts'
import { retentionCommands } from '../resources/retention/commands.ts'
import { inboundRetentionCommands } from '../resources/retention/inbound-commands.ts'
import { metricCommands } from '../resources/retention/metric-sweeper.ts'
import { eventSweepCommands } from '../resources/retention/sweepers.ts'
import { sealCommands } from '../resources/search/pack.ts'
import { suppressionCommands } from '../resources/suppressions/suppression-rows.ts'
import { templateCommands } from '../resources/templates/commands.ts'
import { settingCommands } from '../store/reading/settings.ts'

export const commands = {
  ...settingCommands,
  ...alertCommands,
  ...silenceCommands,
  ...noticeCommands,
  ...userCommands,
  ...signInPlaceCommands,
  ...accountCommands,
  ...deletionCommands,
  ...apiKeyCommands,
  ...accessTokenCommands,
  ...domainCommands,
  ...claimCommands,
  ...rotationCommands,
  ...templateCommands,
  ...audienceCommands,
  ...contactCommands,
  ...accountContactCommands,
  ...importCommands,
  ...segmentCommands,
  ...definitionCommands,
  ...topicCommands,
  ...unsubscribeCommands,
  ...deletedAudienceCommands,
  ...acceptCommands,
  ...scheduledCommands,
  ...broadcastCommands,
  ...idempotencyKeyCommands,
  ...releaseCommands,
  ...holdCommands,
  ...serviceModeCommands,
  ...domainBanCommands,
  ...restoredCommands,
  ...destinationCommands,
  ...adminCommands,
  ...queueCommands,
  ...deletedDomainCommands,
  ...expireCommands,
  ...destinationStateCommands,
  ...warmupCommands,
  ...recipientCommands,
  ...dsnCommands,
  ...suppressionCommands,
  ...sealCommands,
  ...tlsCommands,
  ...retentionCommands,
  ...inboundRetentionCommands,
  ...metricCommands,
  ...eventSweepCommands,
  ...broadcastOutcomeCommands,
  ...shareCommands,
  ...reportCommands,
  ...applyReportCommands,
  ...requestLogCommands,
  ...webhookCommands,
  ...webhookDispatchCommands,
  ...inboundCommands,
  ...inboundRouteCommands,
  ...inboundRouteLogCommands,
  ...inboundUnreadCommands,
  ...receiveCommands,
  ...linkTermsCommands,
  ...listInboundCommands,
  ...certificateCommands,
  ...visitCommands,
  ...preferenceCommands,
}

export type ServiceCommands = typeof commands
