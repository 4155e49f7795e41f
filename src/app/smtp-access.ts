/** Tells where programs submit mail. Part of the composition root. */
import { X509Certificate } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { InstallationView } from '../interfaces/api/installation/schema.ts'
import type { Certificates } from '../lib/certificates.ts'
import { isWildcard } from '../lib/host-port.ts'
import { isLaboratory } from '../resources/domains/checker.ts'

type Listeners = Pick<Config['smtp'], 'submission' | 'submissionTls'>

/** Returns the certificate as PEM, without its key; undefined if an authority issued it. */
export function selfSignedCertificate(certificates: Pick<Certificates, 'current'>): string | undefined {
  const certificate = new X509Certificate(certificates.current().cert)
  return certificate.issuer === certificate.subject ? certificate.toString() : undefined
}

/** Returns where programs submit mail. A provider host that is not public leads nowhere. */
export function smtpAccess(
  mailHost: string,
  listeners: Listeners,
): Pick<InstallationView['smtp'], 'host' | 'ports'> {
  const both = [
    { listen: listeners.submissionTls.listen, security: 'tls' },
    { listen: listeners.submission.listen, security: 'starttls' },
  ] as const
  const ports = both.flatMap(({ listen, security }) => (listen ? [{ port: listen.port, security }] : []))
  return { host: isLaboratory(mailHost) ? localSmtpAddress(listeners) : mailHost, ports }
}

/** Returns the address at which programs on this machine reach the listeners. */
export function localSmtpAddress({ submission, submissionTls }: Listeners): string {
  const bound = (submissionTls.listen ?? submission.listen)?.host
  return bound === undefined || isWildcard(bound) ? '127.0.0.1' : bound
}
