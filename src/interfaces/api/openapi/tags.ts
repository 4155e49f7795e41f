/** Groups the operations of the OpenAPI document. */

interface Tag {
  name: string
  description: string
  /** Beginnings of the paths of its operations. The longest beginning that fits a path counts. */
  beginnings: readonly string[]
}

const TAGS: readonly Tag[] = [
  {
    name: 'Emails',
    description: 'Send, schedule, search and share emails.',
    beginnings: ['/emails'],
  },
  {
    name: 'Received mail',
    description:
      'Mail that was received for the domains of the account. `/emails/receiving` is the form of the SDKs.',
    beginnings: ['/inbound', '/emails/receiving'],
  },
  { name: 'Templates', description: 'Reusable content with numbered versions.', beginnings: ['/templates'] },
  {
    name: 'Suppressions',
    description: 'Addresses to which the account does not send.',
    beginnings: ['/suppressions'],
  },
  {
    name: 'Domains',
    description: 'Sending domains, their DNS records and DKIM keys.',
    beginnings: ['/domains'],
  },
  {
    name: 'API keys',
    description: 'Keys for programs that send and read email, and other credentials of programs.',
    beginnings: ['/api-keys', '/access-tokens', '/oauth'],
  },
  {
    name: 'Audiences',
    description: 'Lists of contacts, and segments that filter them. Newer SDKs call audiences segments.',
    beginnings: ['/audiences', '/segments'],
  },
  {
    name: 'Contacts',
    description: 'Contacts, their properties, imports and topic subscriptions.',
    beginnings: ['/contacts', '/contact-properties'],
  },
  { name: 'Topics', description: 'Subjects that a contact can unsubscribe from.', beginnings: ['/topics'] },
  {
    name: 'Broadcasts',
    description: 'One email to all contacts of an audience or segment.',
    beginnings: ['/broadcasts'],
  },
  {
    name: 'Webhooks',
    description: 'Endpoints that receive events, and their deliveries.',
    beginnings: ['/webhooks'],
  },
  {
    name: 'Activity',
    description: 'What happened in the account: events and requests.',
    beginnings: ['/events', '/activity', '/logs'],
  },
  {
    name: 'Accounts',
    description: 'Sign-in, accounts, plans and their usage.',
    beginnings: ['/auth', '/account', '/accounts', '/usage'],
  },
  {
    name: 'Queue',
    description: 'Queued mail and the destinations that it goes to, for operators.',
    beginnings: ['/queue', '/destinations', '/sources'],
  },
  {
    name: 'Operations',
    description: 'State of the installation.',
    beginnings: [
      ...['/alerts', '/doctor', '/dns', '/installation', '/setup', '/healthz', '/readyz', '/metrics'],
      ...['/openapi.json', '/llms.txt'],
    ],
  },
  {
    name: 'Links',
    description: 'Links in emails and in replies. They need no credential.',
    beginnings: ['/o', '/c', '/u', '/l', '/s', '/v', '/downloads', '/.well-known'],
  },
]

/** Returns the tag of a path. A path that no tag lists is tagged with its first part. */
export function tagOf(path: string): string {
  const fitting = TAGS.flatMap(({ name, beginnings }) =>
    beginnings
      .filter(beginning => path === beginning || path.startsWith(`${beginning}/`))
      .map(beginning => ({ name, length: beginning.length })),
  )
  return fitting.sort((one, other) => other.length - one.length)[0]?.name ?? path.split('/')[1]!
}

/** @param used names of the tags of the operations */
export function tagObjects(used: ReadonlySet<string>): { name: string; description?: string }[] {
  const known = TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({
    name,
    description,
  }))
  const others = [...used].filter(name => !TAGS.some(tag => tag.name === name)).map(name => ({ name }))
  return [...known, ...others]
}
