/** Schemas of the setup of a public installation: answers, what has to be set up, and the test email. */
import * as z from 'zod'
import { parseMailbox } from '../../../protocols/smtp/address.ts'
import {
  AnswerFault,
  type Answers,
  HTTPS_MODES,
  RUN_MODES,
  readContact,
  readHost,
  readPrivateAddresses,
  readPublicAddresses,
} from '../../setup/answers.ts'
import { firewallCommands, hostWarning, RESTART, settingsPlace } from '../../setup/guide.ts'
import {
  type OwnName,
  parentRecords,
  type RunMode,
  settingsOf,
  tcpPorts,
  UNIT,
} from '../../setup/own-name.ts'
import { RECIPIENTS_MAX, type TestedEmail } from '../../setup/test-email.ts'
import { invalidField } from '../api-error.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema } from '../schema/reply-schemas.ts'

const ADDRESSES_MAX = 20
const TEXT_MAX = 1_000
const textInput = z.string().max(TEXT_MAX)
const addressList = z.array(textInput).max(ADDRESSES_MAX)
const httpsSchema = z.enum(HTTPS_MODES).meta({
  description: '`own`: Mailhorn serves HTTPS itself. `proxy`: a reverse proxy on the same server does.',
})
const runSchema = z.enum(RUN_MODES).meta({
  description:
    'How the service is run: from a package (`package`), with Docker Compose (`docker`), or from a checkout with npm (`checkout`).',
})

export const setupSchema = z
  .object({
    object: z.literal('setup'),
    mail_host: z.string().nullable().meta({ description: 'Null if no public host name is configured.' }),
    addresses: z.array(z.string()).meta({
      description: 'Public addresses, by the settings; otherwise those of the network interfaces.',
    }),
    private_addresses: z.array(z.string()),
    contact: z.string().nullable(),
    https: httpsSchema,
    run: runSchema,
    interface_addresses: z.array(z.string()).meta({
      description: 'Addresses of the network interfaces, without loopback and link-local ones.',
    }),
  })
  .meta({ id: 'Setup' })

export const answersSchema = z.object({
  mail_host: textInput.meta({
    description:
      'Name of this server, such as `mail.example.com`: a subdomain that is used for Mailhorn alone.',
  }),
  addresses: addressList.min(1).meta({ description: 'Public IPv4 and IPv6 addresses of the server.' }),
  private_addresses: addressList.optional().meta({
    description:
      'Addresses of the network interfaces behind NAT; by default the private ones, if the public addresses are not assigned to an interface.',
  }),
  contact: textInput.meta({
    description: 'Contact address for the certificate authority, and of the first user.',
  }),
  https: httpsSchema.default('own'),
  run: runSchema.default('package'),
})

const readBody = bodyReader(answersSchema)

export interface GivenAnswers extends Answers {
  run: RunMode
}

/** @throws ApiError 422 */
export function readAnswers(body: unknown): GivenAnswers {
  const { mailHost, addresses, privateAddresses, contact, https, run } = readBody(body)
  try {
    return {
      host: readHost(mailHost),
      addresses: readPublicAddresses(addresses.join()),
      privateAddresses: privateAddresses && readPrivateAddresses(privateAddresses.join()),
      email: readContact(contact),
      ...{ https, run },
    }
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error
    throw invalidField(error.field, `Invalid \`${error.field}\` field: ${error.message}.`)
  }
}

export const planSchema = z
  .object({
    object: z.literal('setup_plan'),
    mail_host: z.string(),
    warning: z.string().nullable().meta({ description: 'A doubt about the host name.' }),
    applied: z.boolean().meta({ description: 'Whether the running service has this host name and its URL.' }),
    settings: z.array(
      z.object({
        name: z.string().meta({ description: 'Name of the environment variable.' }),
        value: z.string(),
        in_use: z.boolean().meta({ description: 'Whether the running service has this value.' }),
      }),
    ),
    settings_file: z.string(),
    unit: z.string().nullable().meta({ description: 'systemd unit; null where there is one already.' }),
    restart: z.string().meta({ description: 'Command that starts the service with the settings.' }),
    tcp_ports: z.array(z.int()),
    udp_ports: z.array(z.int()),
    firewall: z.string().meta({ description: 'Commands that open these ports.' }),
    dns_records: z
      .array(z.object({ name: z.string(), type: z.enum(['NS', 'A', 'AAAA']), value: z.string() }))
      .meta({ description: 'Records of the parent zone: they delegate the zone to this server.' }),
    reverse_names: z.array(z.object({ address: z.string(), name: z.string() })).meta({
      description: 'PTR records, which the hosting provider sets.',
    }),
  })
  .meta({ id: 'SetupPlan' })

/** Settings without which the service is not the one that the answers describe. */
const ESSENTIAL = ['MAILHORN_MAIL_HOST', 'MAILHORN_HTTP_BASE_URL']

/** @param differing names of settings that the running service has other values of */
export function planView(
  own: OwnName,
  run: RunMode,
  differing: readonly string[],
): z.output<typeof planSchema> {
  return {
    object: 'setup_plan',
    mail_host: own.host,
    warning: hostWarning(own.host),
    applied: isApplied(differing),
    settings: settingsOf(own, run).map(([name, value]) => ({
      ...{ name, value, in_use: !differing.includes(name) },
    })),
    settings_file: settingsPlace(run),
    unit: run === 'checkout' ? UNIT : null,
    restart: RESTART[run],
    tcp_ports: tcpPorts(own),
    udp_ports: [53],
    firewall: firewallCommands(own),
    dns_records: parentRecords(own),
    reverse_names: own.addresses.map(address => ({ address, name: own.host })),
  }
}

export function isApplied(differing: readonly string[]): boolean {
  return !ESSENTIAL.some(name => differing.includes(name))
}

export const testEmailSchema = z.object({
  from: textInput.meta({ description: 'Sender, at a domain of the account.' }),
  to: z.array(textInput).min(1).max(RECIPIENTS_MAX),
  all_records: z.boolean().default(false).meta({
    description: 'Whether the SPF and MX records must be found, too, which mail is accepted without.',
  }),
})

export const readTestEmail = bodyReader(testEmailSchema)

export const testedEmailSchema = z
  .object({
    object: z.literal('test_email'),
    id: idSchema('eml').nullable().meta({ description: 'Null if records are missing: nothing was sent.' }),
    from: z.string(),
    domain: z.string(),
    missing: z.array(z.object({ host: z.string(), advice: z.string() })).meta({
      description: 'DNS records of the domain that were not found.',
    }),
  })
  .meta({ id: 'TestEmail' })

export function testedEmailView(tested: TestedEmail): z.output<typeof testedEmailSchema> {
  return { object: 'test_email', ...tested }
}

/** @throws ApiError 422 */
export function readMailbox(field: string, text: string) {
  const mailbox = parseMailbox(text.trim())
  if ('fault' in mailbox)
    throw invalidField(field, `Invalid \`${field}\` field: the address "${text.trim()}" ${mailbox.fault}.`)
  return mailbox
}
