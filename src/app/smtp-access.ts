/** Tells where programs submit mail. Part of the composition root. */
import type { Config } from '../config/config.ts'
import type { InstallationView } from '../interfaces/api/installation/schema.ts'
import { isWildcard } from '../lib/host-port.ts'
import { isLaboratory } from '../resources/domains/checker.ts'

type Listeners = Pick<Config['smtp'], 'submission' | 'submissionTls'>

/** Returns where programs submit mail. A provider host that is not public leads nowhere. */
export function smtpAccess(mailHost: string, listeners: Listeners): InstallationView['smtp'] {
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
