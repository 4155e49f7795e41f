/**
 * `mailhorn init`: asks for the name and the addresses of a public installation, checks the host, and prints
 * everything that has to be set up: settings, firewall rules, DNS records, and how to start the service.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { getDomain } from 'tldts'
import type { DoctorReport } from '../doctor/finding.ts'
import { firewallCommands, hostWarning, plannedSettings, settingsPlace } from '../setup/guide.ts'
import {
  COMMAND,
  delegationLines,
  type OwnName,
  parentRecords,
  type RunMode,
  SETTINGS_FILE,
  settingsOf,
  tcpPorts,
  UNIT,
  unusedSettings,
} from '../setup/own-name.ts'
import { mergedSettings } from '../setup/settings-file.ts'
import type { CliCommand } from './command.ts'
import { type InitAnswers, initAnswers } from './init-answers.ts'
import { reportText } from './report-text.ts'

const CREDENTIALS: [name: string, value: string] = ['MAILHORN_ADMIN_CREDENTIALS_FILE', 'first-credentials']

export const initCommand: CliCommand = {
  name: 'init',
  usage:
    '[<mail host>] [--address <ip>,…] [--private-address <ip>,…] [--contact <email>] [--https own|proxy] [--run package|docker|checkout] [--write <file>]',
  summary:
    'Prepare a public installation: check this host, and print settings, firewall rules and DNS records',
  details: `  <mail host>               Name of this server, and of the DNS zone that Mailhorn serves, such as mail.example.com.
                            Use a subdomain of a domain you own, for Mailhorn alone.
  --address <ip>,…          Public addresses; by default those of the network interfaces.
  --private-address <ip>,…  Addresses of the network interfaces behind NAT (AWS, Google Cloud, Azure); by default the
                            private ones, if the public addresses are not assigned to an interface.
  --contact <email>         Contact address for the certificate authority, Let's Encrypt, and the address of the first
                            user, who gets alerts.
  --https own|proxy         Whether Mailhorn serves HTTPS itself (default), or a reverse proxy on this host.
  --run <mode>              package: installed from an archive or .deb (default); docker: with Docker Compose;
                            checkout: with npm.
  --write <file>            Write the settings to this file. Lines with other settings are kept; what changes is printed.

On a terminal, the command asks for what is missing. It changes nothing but the file of --write, and you can repeat it
until the checks pass; once the service runs, use mailhorn doctor. Exits with code 1 if a check failed.`,
  options: {
    address: { type: 'string' },
    'private-address': { type: 'string' },
    contact: { type: 'string' },
    https: { type: 'string' },
    run: { type: 'string' },
    write: { type: 'string' },
  },
  positionals: { min: 0, max: 1 },
  async run(input) {
    const answers = await initAnswers(input)
    const { own, run } = answers
    const settings: [string, string][] = [...settingsOf(own, run), CREDENTIALS]
    const warning = hostWarning(own.host)
    if (warning !== null) input.say(warning)
    const report = await input.examineHost(plannedSettings(own, run), own.addresses)
    const file = input.values.write as string | undefined
    const written = file === undefined ? null : writeSettings(file, settings, unusedSettings(own, run))
    return {
      json: {
        mail_host: own.host,
        settings: Object.fromEntries(settings),
        dns_records: parentRecords(own),
        reverse_names: own.addresses.map(address => ({ address, name: own.host })),
        tcp_ports: tcpPorts(own),
        udp_ports: [53],
        written,
        report,
      },
      text: guideText({ ...answers, settings, written, report }),
      isBad: report.status === 'failed' || (written !== null && 'fault' in written),
    }
  },
}

type Written = { file: string; changes: string[] } | { file: string; fault: string }

function writeSettings(
  file: string,
  settings: readonly [string, string][],
  unused: readonly string[],
): Written {
  try {
    const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const { text, changes } = mergedSettings(before, settings, unused)
    writeFileSync(file, text, { mode: 0o640, flush: true })
    return { file, changes }
  } catch (error) {
    return { file, fault: (error as Error).message }
  }
}

interface Guide extends InitAnswers {
  settings: readonly [string, string][]
  /** Null without `--write`. */
  written: Written | null
  report: DoctorReport
}

function guideText({ own, run, settings, written, report }: Guide): string {
  const lines = settings.map(([name, value]) => `${name}=${value}`)
  return [
    reportText(report),
    section(1, settingsTitle(written, settingsPlace(run)), [...changesOf(written), ...lines].join('\n')),
    section(
      2,
      'Open the ports in the firewall of this host, and in that of the hosting provider',
      firewallCommands(own),
    ),
    section(3, `Add these records to the DNS of the parent zone of ${own.host}`, delegationLines(own)),
    section(
      4,
      'Ask the hosting provider to set the PTR (reverse DNS) records, and to open outbound port 25',
      own.addresses.map(address => `${address}  PTR  ${own.host}.`).join('\n'),
    ),
    section(
      5,
      'Start the service, read the first password and API key, and check the installation',
      START[run],
    ),
    section(6, 'Add the domain of your sender addresses, and send the first email', firstEmail(own, run)),
  ].join('\n\n')
}

function settingsTitle(written: Written | null, place: string): string {
  if (written === null) return `Save these settings as ${place}`
  if ('changes' in written) return `These settings are in ${written.file}`
  return `The settings could NOT be written to ${written.file} (${written.fault}). Save them yourself, as root`
}

function changesOf(written: Written | null): string[] {
  if (written === null || 'fault' in written || written.changes.length === 0) return []
  return [...written.changes.map(change => `changed: ${change}`), '']
}

function section(number: number, title: string, text: string): string {
  return `${number}. ${title}:\n\n${text.replace(/^(?=.)/gm, '   ')}`
}

/** The contact address gets the first email, unless the operator names another one. */
function firstEmail({ host, email }: OwnName, run: RunMode): string {
  const program = PROGRAM[run]
  return `${program} domains add ${getDomain(host) ?? host}
${program} email test --wait ${email}

The first command prints the DNS records of the domain. The second one waits until nothing is missing any more,
sends the email, and shows the reply of the mail server or what to do.`
}

const PROGRAM: Record<RunMode, string> = {
  package: 'mailhorn',
  docker: 'docker compose exec mailhorn mailhorn',
  checkout: '/opt/mailhorn/bin/mailhorn',
}

const START: Record<RunMode, string> = {
  package: `systemctl enable --now mailhorn
cat /var/lib/mailhorn/first-credentials
mailhorn doctor --wait`,
  docker: `docker compose up -d
docker compose exec mailhorn cat /var/lib/mailhorn/first-credentials
docker compose exec mailhorn mailhorn doctor --wait`,
  checkout: `Save this unit as /etc/systemd/system/mailhorn.service:

${UNIT}

useradd --system --home /opt/mailhorn mailhorn && chown -R mailhorn /opt/mailhorn
systemctl enable --now mailhorn
cat /opt/mailhorn/data/first-credentials
set -a; . ${SETTINGS_FILE}; set +a; /opt/mailhorn/bin/mailhorn doctor --wait

Without systemd: ${COMMAND}`,
}
