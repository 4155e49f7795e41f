/**
 * `mailhorn init`: asks for the name and the addresses of a public installation, checks the host, and prints
 * everything that has to be set up: settings, firewall rules, DNS records, and how to start the service.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { isGlobalUnicast } from '../../protocols/dns/address-safety.ts'
import { parseMailbox } from '../../protocols/smtp/address.ts'
import type { DoctorReport } from '../doctor/finding.ts'
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
} from '../setup/own-name.ts'
import { mergedSettings } from '../setup/settings-file.ts'
import type { CliCommand, CommandInput } from './command.ts'
import { CommandError, UsageError } from './control/result.ts'
import { reportText } from './report-text.ts'

const RUN_MODES = ['package', 'docker', 'checkout'] as const
const HOST_NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/
const CREDENTIALS: [name: string, value: string] = ['MAILHORN_ADMIN_CREDENTIALS_FILE', 'first-credentials']

export const initCommand: CliCommand = {
  name: 'init',
  usage:
    '[<mail host>] [--address <ip>,…] [--contact <email>] [--run package|docker|checkout] [--write <file>]',
  summary:
    'Prepare a public installation: check this host, and print settings, firewall rules and DNS records',
  details: `  <mail host>               Name of this server, and of the DNS zone that Mailhorn serves, such as mail.example.com.
                            Use a subdomain of a domain you own, for Mailhorn alone.
  --address <ip>,…          Public addresses; by default those of the network interfaces.
  --private-address <ip>,…  Addresses of the network interfaces behind NAT (AWS, Google Cloud, Azure); by default the
                            private ones, if the public addresses are not assigned to an interface.
  --contact <email>         Contact address for the certificate authority, Let's Encrypt.
  --https own|proxy         Whether Mailhorn serves HTTPS itself (default), or a reverse proxy on this host.
  --run <mode>              package: installed from an archive or .deb (default); docker: with Docker Compose;
                            checkout: with npm.
  --write <file>            Write the settings to this file. Its other lines are kept.

On a terminal, the command asks for what is missing. It changes nothing but the file of --write, and you can repeat it
until all checks pass. Exits with code 1 if a check failed.`,
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
    const { own, run } = await answersOf(input)
    const settings: [string, string][] = [...settingsOf(own, run), CREDENTIALS]
    const report = await input.examineHost(Object.fromEntries(settingsOf(own)), own.addresses)
    const file = input.values.write as string | undefined
    if (file !== undefined) writeSettings(file, settings)
    return {
      json: {
        mail_host: own.host,
        settings: Object.fromEntries(settings),
        dns_records: parentRecords(own),
        reverse_names: own.addresses.map(address => ({ address, name: own.host })),
        tcp_ports: tcpPorts(own),
        udp_ports: [53],
        report,
      },
      text: guideText(own, run, settings, file, report),
      isBad: report.status === 'failed',
    }
  },
}

interface Answers {
  own: OwnName
  run: RunMode
}

/** @throws UsageError that names the argument */
async function answersOf(input: CommandInput): Promise<Answers> {
  const { values, positionals, interfaceAddresses } = input
  const run = oneOf('--run', RUN_MODES, values.run ?? 'package')
  const https = oneOf('--https', ['own', 'proxy'] as const, values.https ?? 'own')
  const host = await answer(input, {
    argument: positionals[0],
    question: 'Host name of this server, such as mail.example.com',
    name: '<mail host>',
    read: readHost,
  })
  const assigned = interfaceAddresses()
  const publicOnes = assigned.filter(isGlobalUnicast)
  const addresses = await answer(input, {
    argument: values.address ?? (publicOnes.length > 0 ? publicOnes.join(',') : undefined),
    question: 'Public IP addresses, separated by commas',
    name: '--address',
    read: text => readAddresses('--address', text),
  })
  const email = await answer(input, {
    argument: values.contact,
    question: "Contact address for the certificate authority, Let's Encrypt",
    name: '--contact',
    read: readContact,
  })
  const privateAddress = values['private-address']
  const localAddresses =
    typeof privateAddress === 'string'
      ? readAddresses('--private-address', privateAddress)
      : addresses.every(address => assigned.includes(address))
        ? []
        : privateOnes(assigned, addresses)
  return { own: { host, addresses, localAddresses, email, https }, run }
}

interface Question<T> {
  argument: string | boolean | undefined
  question: string
  /** Name of the argument in errors. */
  name: string
  read(text: string): T
}

/** Asks again until the answer is valid. @throws UsageError when there is no terminal */
async function answer<T>(
  { ask, say }: CommandInput,
  { argument, question, name, read }: Question<T>,
): Promise<T> {
  if (typeof argument === 'string') return read(argument)
  for (;;) {
    const text = await ask(question)
    if (text === null) throw new UsageError(`missing ${name}; see mailhorn help init`)
    try {
      return read(text)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      say(error.message)
    }
  }
}

function oneOf<T extends string>(name: string, known: readonly T[], value: string | boolean): T {
  const found = known.find(one => one === value)
  if (found === undefined) throw new UsageError(`${name} must be one of ${known.join(', ')}, not "${value}"`)
  return found
}

function readHost(text: string): string {
  const host = text.trim().toLowerCase().replace(/\.$/, '')
  if (!HOST_NAME.test(host))
    throw new UsageError(`"${text.trim()}" is not a host name with a domain, such as mail.example.com`)
  return host
}

function readAddresses(name: string, text: string): string[] {
  const addresses = text.split(/[\s,]+/).filter(Boolean)
  const wrong = addresses.find(address => isIP(address) === 0)
  if (wrong !== undefined || addresses.length === 0)
    throw new UsageError(`${name}: "${wrong ?? text}" is not an IP address`)
  return addresses
}

function readContact(text: string): string {
  const mailbox = parseMailbox(text.trim())
  if ('fault' in mailbox) throw new UsageError(`--contact: "${text.trim()}" is not an email address`)
  return text.trim()
}

/** Private addresses of the families that the public addresses have. */
function privateOnes(assigned: readonly string[], addresses: readonly string[]): string[] {
  const families = new Set(addresses.map(isIP))
  return assigned.filter(address => !isGlobalUnicast(address) && families.has(isIP(address)))
}

/** @throws CommandError */
function writeSettings(file: string, settings: readonly [string, string][]): void {
  try {
    const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
    writeFileSync(file, mergedSettings(before, settings), { mode: 0o640, flush: true })
  } catch (error) {
    throw new CommandError(`the settings cannot be written: ${(error as Error).message}`)
  }
}

function guideText(
  own: OwnName,
  run: RunMode,
  settings: readonly [string, string][],
  file: string | undefined,
  report: DoctorReport,
): string {
  const lines = settings.map(([name, value]) => `${name}=${value}`).join('\n')
  const place = run === 'docker' ? '.env, beside compose.yaml' : SETTINGS_FILE
  return [
    reportText(report),
    section(
      1,
      file === undefined ? `Save these settings as ${place}` : `These settings are in ${file}`,
      lines,
    ),
    section(
      2,
      'Open the ports in the firewall of this host, and in that of the hosting provider',
      firewall(own),
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
  ].join('\n\n')
}

function section(number: number, title: string, text: string): string {
  return `${number}. ${title}:\n\n${text.replace(/^(?=.)/gm, '   ')}`
}

function firewall(own: OwnName): string {
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

const START: Record<RunMode, string> = {
  package: `systemctl enable --now mailhorn
cat /var/lib/mailhorn/first-credentials
mailhorn doctor`,
  docker: `docker compose up -d
docker compose exec mailhorn cat /var/lib/mailhorn/first-credentials
docker compose exec mailhorn mailhorn doctor`,
  checkout: `Save this unit as /etc/systemd/system/mailhorn.service:

${UNIT}

useradd --system --home /opt/mailhorn mailhorn && chown -R mailhorn /opt/mailhorn
systemctl enable --now mailhorn
cat /opt/mailhorn/data/first-credentials
set -a; . ${SETTINGS_FILE}; set +a; /opt/mailhorn/bin/mailhorn doctor

Without systemd: ${COMMAND}`,
}
