/**
 * Texts of the setup of a public installation, for `mailhorn init` and the wizard of the dashboard: where the
 * settings are stored, firewall commands, and how the service is restarted.
 */
import { getDomain } from 'tldts'
import { type OwnName, type RunMode, SETTINGS_FILE, settingsOf, tcpPorts } from './own-name.ts'

/** Compose publishes the ports at all addresses of the host. */
const PUBLISHED = { MAILHORN_DNS_LISTEN: '0.0.0.0:53' }

/** Returns a warning about a mail host whose whole DNS would be delegated; null if there is none. */
export function hostWarning(host: string): string | null {
  if (getDomain(host) !== host) return null
  return (
    `${host} is a registered domain: all of its DNS would be delegated to Mailhorn, also for its website and its ` +
    `mailboxes. Use a subdomain for Mailhorn alone, such as mail.${host}.`
  )
}

/** Returns the settings that the checks of the host need, by the names of their environment variables. */
export function plannedSettings(own: OwnName, run: RunMode): Record<string, string> {
  return { ...Object.fromEntries(settingsOf(own)), ...(run === 'docker' && PUBLISHED) }
}

/** Returns the file that the settings are stored in. */
export function settingsPlace(run: RunMode): string {
  return run === 'docker' ? '.env, beside compose.yaml' : SETTINGS_FILE
}

/** Returns the commands for ufw, and those for nftables. */
export function firewallCommands(own: Pick<OwnName, 'https'>): string {
  const ports = tcpPorts(own).join(',')
  return [
    `ufw allow ${ports}/tcp && ufw allow 53/udp`,
    '',
    'or, with nftables:',
    '',
    `nft add rule inet filter input tcp dport { ${ports} } accept`,
    'nft add rule inet filter input udp dport 53 accept',
  ].join('\n')
}

/** These commands start the running service again with new settings. */
export const RESTART: Record<RunMode, string> = {
  package: 'systemctl restart mailhorn',
  docker: 'docker compose up -d',
  checkout: 'systemctl daemon-reload && systemctl restart mailhorn',
}
