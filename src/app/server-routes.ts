/** Routes of the operator about the machine and the process, for the section Server of the dashboard. */
import { X509Certificate } from 'node:crypto'
import { type CertificateView, certificateRoutes } from '../interfaces/api/installation/certificate-routes.ts'
import { settingsRoutes } from '../interfaces/api/installation/settings-routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { timestamp } from '../interfaces/api/schema/timestamp.ts'
import { type CertificateState, listCertificateStates } from '../resources/certificates/certificate-rows.ts'
import { listTrackingHosts } from '../resources/domains/known-tracking-hosts.ts'
import type { AppContext } from './context.ts'
import { trackingBaseOf } from './tracking.ts'

export function serverRoutesOf(context: AppContext): Route[] {
  const { settings, store, clock } = context
  return [
    ...settingsRoutes({
      settings: settings.map(({ sourceName: source_name, isSecret: secret, ...setting }) => ({
        ...setting,
        ...{ source_name, secret },
      })),
    }),
    ...certificateRoutes({
      list: () => listCertificates(context),
      order: host => store.run('orderCertificate', { host, now: clock.now() }),
    }),
  ]
}

/** Lists the certificate of the listeners, then those of the tracking hosts that lead here. */
async function listCertificates({ config, store, clock, security }: AppContext): Promise<CertificateView[]> {
  const { mailHost, acme, http, smtp } = config
  const states = acme.enabled ? await listCertificateStates(store.db) : []
  const own = new X509Certificate(security.certificates.current().cert)
  const endsAt = own.validToDate.getTime()
  const state = states.find(({ host }) => host === mailHost)
  const isIssued = state?.endsAt === endsAt
  const hasTracking = acme.enabled && http.tlsListen !== null
  const tracking = hasTracking ? await listTrackingHosts(store.db, trackingBaseOf(config)) : []
  const hosts = new Set(tracking.flatMap(({ host, leadsHere }) => (leadsHere ? [host] : [])))
  return [
    {
      host: mailHost,
      source: isIssued ? 'authority' : smtp.tls.certFile === null ? 'self_signed' : 'file',
      names: (own.subjectAltName ?? '').split(', ').map(name => name.replace(/^DNS:/, '')),
      issuer: own.issuer.replaceAll('\n', ', '),
      valid_from: timestamp(own.validFromDate.getTime()),
      expires_at: timestamp(endsAt),
      order: state ? orderOf(state, clock.now()) : null,
    },
    ...states
      .filter(({ host }) => hosts.has(host))
      .map(
        (other): CertificateView => ({
          host: other.host,
          source: other.endsAt === null ? null : 'authority',
          names: JSON.parse(other.names),
          issuer: null,
          valid_from: timestamp(other.startsAt),
          expires_at: timestamp(other.endsAt),
          order: orderOf(other, clock.now()),
        }),
      ),
  ]
}

function orderOf({ nextAt, failedAt, fault, leaseUntil }: CertificateState, now: number) {
  const status = leaseUntil > now ? 'in_progress' : fault === null ? 'waiting' : 'failed'
  return { status, next_at: timestamp(nextAt), failed_at: timestamp(failedAt), error: fault } as const
}
