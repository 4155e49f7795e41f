/** `mailhorn import …` brings an account of another service here. */
import type { Clock } from '../../lib/clock.ts'
import { awsCredential } from '../../protocols/http-client/aws-signature.ts'
import type { CliCommand, CommandInput } from './command.ts'
import { textOf } from './command.ts'
import { CommandError, UsageError } from './control/result.ts'
import { type Api, type ApiCredential, createApi } from './import/api.ts'
import { listmonkSource } from './import/providers/listmonk.ts'
import { mailgunSource } from './import/providers/mailgun.ts'
import { postalSource, readPostalFiles } from './import/providers/postal.ts'
import { postmarkSource } from './import/providers/postmark.ts'
import { resendSource } from './import/providers/resend.ts'
import { sendgridSource } from './import/providers/sendgrid.ts'
import { sesSource } from './import/providers/ses.ts'
import { runImport } from './import/run.ts'
import { type ImportSource, KINDS, type Kind } from './import/shapes.ts'

const TOKEN = 'MAILHORN_ACCESS_TOKEN'

interface Key {
  variable: string
  about: string
  isOptional?: boolean
  /** Form of a value that is no secret. */
  form?: RegExp
}

interface Provider {
  name: string
  title: string
  /**
   * URL of its API, in which `<NAME>` stands for the value of that key; null if every user has another;
   * `files` if it is read from a folder of files.
   */
  baseUrl: string | 'files' | null
  keys: readonly Key[]
  /** What it has, for the help. */
  has: string
  /** Option without a value that this provider alone has, and its line of the help. */
  option?: { name: string; about: string }
  open(access: Access): ImportSource | Promise<ImportSource>
}

/** What readers of providers are made from. */
interface Access {
  keys: ReadonlyMap<string, string>
  /** Opens the API of the provider with the key of a variable. */
  connect(variable: string, credential: ApiCredential): Api
  /** The folder of files. */
  folder: string
  kinds: ReadonlySet<Kind>
  /** Whether the option of the provider was given. */
  hasOption: boolean
  clock: Clock
  say(text: string): void
}

const PROVIDERS: readonly Provider[] = [
  {
    name: 'resend',
    title: 'Resend',
    baseUrl: 'https://api.resend.com',
    keys: [{ variable: 'RESEND_API_KEY', about: 'an API key with full access' }],
    has: 'domains, suppressions, templates, segments with their contacts, webhooks',
    open: ({ keys, connect }) =>
      resendSource(connect('RESEND_API_KEY', { authorization: `Bearer ${keys.get('RESEND_API_KEY')}` })),
  },
  {
    name: 'postmark',
    title: 'Postmark',
    baseUrl: 'https://api.postmarkapp.com',
    keys: [
      { variable: 'POSTMARK_SERVER_TOKEN', about: 'the API token of a server' },
      {
        variable: 'POSTMARK_ACCOUNT_TOKEN',
        about: 'the token of the account, for domains',
        isOptional: true,
      },
    ],
    has: 'domains, suppressions, templates with their layouts, recipients who left broadcast streams, webhooks',
    open({ keys, connect }) {
      const account = keys.get('POSTMARK_ACCOUNT_TOKEN')
      return postmarkSource(
        connect('POSTMARK_SERVER_TOKEN', { 'x-postmark-server-token': keys.get('POSTMARK_SERVER_TOKEN')! }),
        account === undefined
          ? undefined
          : connect('POSTMARK_ACCOUNT_TOKEN', { 'x-postmark-account-token': account }),
      )
    },
  },
  {
    name: 'sendgrid',
    title: 'SendGrid',
    baseUrl: 'https://api.sendgrid.com',
    keys: [
      { variable: 'SENDGRID_API_KEY', about: 'an API key with read access, and full access to marketing' },
    ],
    has: 'domains, suppressions, dynamic templates, lists with their contacts, unsubscribe groups, webhooks',
    open: ({ keys, connect, clock }) =>
      sendgridSource(
        connect('SENDGRID_API_KEY', { authorization: `Bearer ${keys.get('SENDGRID_API_KEY')}` }),
        clock,
      ),
  },
  {
    name: 'mailgun',
    title: 'Mailgun',
    baseUrl: 'https://api.mailgun.net',
    keys: [{ variable: 'MAILGUN_API_KEY', about: 'an API key of the account' }],
    has: 'domains, suppressions, templates, mailing lists with their members, webhooks of all domains',
    open: ({ keys, connect }) =>
      mailgunSource(
        connect('MAILGUN_API_KEY', { authorization: basic('api', keys.get('MAILGUN_API_KEY')!) }),
      ),
  },
  {
    name: 'listmonk',
    title: 'listmonk',
    baseUrl: null,
    keys: [{ variable: 'LISTMONK_TOKEN', about: 'user and token of an API user, as user:token' }],
    has: 'lists with their subscribers, the blocklist, bounces, templates',
    open: ({ keys, connect }) =>
      listmonkSource(connect('LISTMONK_TOKEN', { authorization: `token ${keys.get('LISTMONK_TOKEN')}` })),
  },
  {
    name: 'ses',
    title: 'Amazon SES',
    baseUrl: 'https://email.<AWS_REGION>.amazonaws.com',
    keys: [
      { variable: 'AWS_ACCESS_KEY_ID', about: 'the id of an access key that may read SES' },
      { variable: 'AWS_SECRET_ACCESS_KEY', about: 'the secret of this key' },
      {
        variable: 'AWS_REGION',
        about: 'the region of the account, such as eu-west-1',
        form: /^[a-z]+(?:-[a-z]+)+-\d+$/,
      },
      { variable: 'AWS_SESSION_TOKEN', about: 'the session token of a temporary key', isOptional: true },
    ],
    has: 'domains, the suppression list, templates, the contact list with its topics and contacts',
    option: {
      name: 'attributes',
      about: 'Also the attributes of contacts, which SES tells at one contact a second.',
    },
    open: ({ keys, connect, hasOption: withAttributes, say }) => {
      const key = {
        accessKeyId: keys.get('AWS_ACCESS_KEY_ID')!,
        secretKey: keys.get('AWS_SECRET_ACCESS_KEY')!,
        sessionToken: keys.get('AWS_SESSION_TOKEN'),
      }
      const credential = awsCredential(key, { region: keys.get('AWS_REGION')!, service: 'ses' })
      return sesSource(connect('AWS_SECRET_ACCESS_KEY', credential), { withAttributes, say })
    },
  },
  {
    name: 'postal',
    title: 'Postal',
    baseUrl: 'files',
    keys: [],
    has: 'domains, suppressions and webhooks, from files that the client of its database has written',
    open: async ({ folder, kinds, clock }) => postalSource(await readPostalFiles(folder, kinds), clock),
  },
]

export const importCliCommands: readonly CliCommand[] = PROVIDERS.map(provider => ({
  name: `import ${provider.name}`,
  usage: usageOf(provider),
  summary: `Import an account of ${provider.title}`,
  details: detailsOf(provider),
  options: {
    'dry-run': { type: 'boolean' },
    only: { type: 'string' },
    service: { type: 'string' },
    from: { type: 'string' },
    ...(provider.option && { [provider.option.name]: { type: 'boolean' } }),
  },
  run: input => importFrom(provider, input),
}))

/** Writes a user and a password as HTTP sends them. */
function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

function usageOf(provider: Provider): string {
  const { option } = provider
  return `[--dry-run] [--only <kinds>] [--service <url>] ${fromOf(provider).usage}${option ? ` [--${option.name}]` : ''}`
}

/** Describes the option `--from`: for the usage, and as a line of the help. */
function fromOf({ title, baseUrl }: Provider): { usage: string; line: string } {
  if (baseUrl === 'files')
    return {
      usage: '--from <folder>',
      line: `--from <folder>  Folder of the files from ${title}; see docs/moving-in.md.`,
    }
  const line = `--from <url>     URL of the API of ${title}`
  return baseUrl === null
    ? { usage: '--from <url>', line: `${line}.` }
    : { usage: '[--from <url>]', line: `${line} (default: ${baseUrl}).` }
}

function detailsOf(provider: Provider): string {
  const { keys, has, option } = provider
  const width = Math.max(TOKEN.length, ...keys.map(({ variable }) => variable.length))
  const lines = keys.map(
    ({ variable, about, isOptional }) =>
      `  ${variable.padEnd(width)}  ${about}${isOptional ? ' (optional)' : ''}`,
  )
  return `Brings ${has}. Run it again to continue: nothing is made twice.

  --dry-run        Show what would be made, and change nothing.
  --only <kinds>   Only these, separated by commas: ${KINDS.join(', ')}.
  --service <url>  URL of this service (default: that of http.listen on this machine).
  ${fromOf(provider).line}${option ? `\n  ${`--${option.name}`.padEnd(15)}  ${option.about}` : ''}

Keys come from the environment, or else from lines of standard input in this order. They are not stored.
${[...lines, `  ${TOKEN.padEnd(width)}  an access token of this service`].join('\n')}`
}

async function importFrom(provider: Provider, input: CommandInput) {
  const { values, importSettings, say } = input
  const { name, title, baseUrl, option } = provider
  const kinds = kindsOf(values.only)
  const { serviceUrl, variable, clock } = importSettings()
  const isFolder = baseUrl === 'files'
  const named = textOf(values.from)
  const from = isFolder ? named : (named ?? baseUrl)
  if (from === null) throw new UsageError('--from is required')
  if (named !== null && !isFolder) checkUrl('from', named)
  const to = checkUrl('service', textOf(values.service) ?? serviceUrl)
  const needed = [...provider.keys, { variable: TOKEN, about: 'an access token of this service' }]
  const keys = await keysOf(needed, variable, input.readInput)
  const secrets = needed.flatMap(({ variable, form }: Key) => (form ? [] : (keys.get(variable) ?? [])))
  const service = createApi({
    name: 'Mailhorn',
    baseUrl: to,
    credential: { authorization: `Bearer ${keys.get(TOKEN)}` },
    variable: TOKEN,
    secrets,
    clock,
    say,
  })
  const url = from.replace(/<(\w+)>/g, (_, variable: string) => keys.get(variable) ?? '')
  const connect: Access['connect'] = (variable, credential) =>
    createApi({ name: title, baseUrl: url, credential, variable, secrets, clock, say })
  const hasOption = option !== undefined && values[option.name] === true
  return runImport({
    provider: name,
    title,
    source: await provider.open({ keys, connect, folder: from, kinds, hasOption, clock, say }),
    service,
    kinds,
    isDryRun: values['dry-run'] === true,
    clock,
    say,
  })
}

/** @throws UsageError */
function kindsOf(only: string | boolean | undefined): ReadonlySet<Kind> {
  if (typeof only !== 'string') return new Set(KINDS)
  const named = only.split(',').map(name => name.trim())
  const unknown = named.find(name => !(KINDS as readonly string[]).includes(name))
  if (unknown !== undefined) throw new UsageError(`--only: "${unknown}" is none of ${KINDS.join(', ')}`)
  return new Set(named as Kind[])
}

/** @throws UsageError */
function checkUrl(option: string, text: string | null): string {
  if (text === null) throw new UsageError(`--${option} is required`)
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new UsageError(`--${option} must be an http or https URL; got "${text}"`)
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`--${option} must not contain a password`)
  return text
}

/**
 * Takes keys from the environment, and those that are missing there from lines of standard input. Optional
 * keys are read from the environment only.
 * @throws CommandError
 */
async function keysOf(
  needed: readonly Key[],
  variable: (name: string) => string | undefined,
  readInput: () => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const keys = new Map<string, string>()
  let lines: string[] | undefined
  for (const { variable: name, about, isOptional, form } of needed) {
    const set = variable(name)?.trim()
    if (!set && isOptional) continue
    lines = set ? lines : (lines ?? (await readInput()).split(/\r?\n/))
    const key = set || lines?.shift()?.trim()
    if (!key) throw new CommandError(`${name} is not set, and standard input has no line for it: ${about}.`)
    if (/[^\x21-\x7e]/.test(key)) throw new CommandError(`${name} contains characters that no key has.`)
    if (form && !form.test(key)) throw new CommandError(`${name} must be ${about}; got "${key}".`)
    keys.set(name, key)
  }
  return keys
}
