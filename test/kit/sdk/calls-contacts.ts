/** Calls about contacts: their segments, topics, properties and imports, and suppressed addresses. */

import { pages } from './arguments.ts'
import type { Calls, SdkWorld } from './calls.ts'
import { contactOf, importOf, memberOf, propertyOf, segmentOf, suppressionOf, topicOf } from './fixtures.ts'

function csv({ fresh }: SdkWorld): Blob {
  return new Blob([`mail,given,last,out,town\n${fresh('cleo')}@there.example,Cleo,Doe,false,Rome\n`], {
    type: 'text/csv',
  })
}

const PERSON = {
  firstName: 'Ann',
  lastName: 'Doe',
  unsubscribed: false,
  properties: { city: 'Rome', age: 4 },
}

const segments = {
  create: ({ fresh }: SdkWorld) => [[{ name: fresh('Readers') }]] as [{ name: string }][],
  get: async (world: SdkWorld) => [[await segmentOf(world)]] as [string][],
  list: async (world: SdkWorld) => pages(await segmentOf(world)),
  update: async (world: SdkWorld) =>
    [[await segmentOf(world), { name: 'Others' }]] as [string, { name: string }][],
  remove: async (world: SdkWorld) => [[await segmentOf(world)]] as [string][],
}

type ContactMethod =
  `${'contacts' | 'segments' | 'audiences' | 'topics' | 'contactProperties' | 'suppressions'}.${string}` &
    keyof Calls

export const CONTACT_CALLS: Calls<ContactMethod> = {
  'segments.create': segments.create,
  'segments.get': segments.get,
  'segments.list': segments.list,
  'segments.update': segments.update,
  'segments.remove': segments.remove,
  'audiences.create': segments.create,
  'audiences.get': segments.get,
  'audiences.list': segments.list,
  'audiences.update': segments.update,
  'audiences.remove': segments.remove,

  'contacts.create': async world => [
    [{ email: `${world.fresh('ann')}@there.example` }],
    [
      {
        ...{ ...PERSON, email: `${world.fresh('ann')}@there.example` },
        segments: [{ id: await segmentOf(world) }],
        topics: [{ id: await topicOf(world), subscription: 'opt_out' }],
      },
    ],
    [{ ...PERSON, email: `${world.fresh('ann')}@there.example`, audienceId: await segmentOf(world) }],
  ],
  'contacts.get': async world => {
    const { id, email, segmentId } = await memberOf(world)
    return [[id], [{ id }], [{ email }], [{ id, audienceId: segmentId }]]
  },
  'contacts.list': async world => {
    const { id, segmentId } = await memberOf(world)
    return [...pages(id), [{ segmentId }], [{ audienceId: segmentId }]]
  },
  'contacts.update': async world => {
    const { id, email, segmentId } = await memberOf(world)
    return [
      [{ id, firstName: 'Bob' }],
      [{ email, ...PERSON }],
      [{ id, audienceId: segmentId, firstName: null, lastName: null }],
    ]
  },
  'contacts.remove': async world => {
    const { id } = await contactOf(world)
    const { email } = await contactOf(world)
    const member = await memberOf(world)
    return [[id], [{ email }], [{ id: member.id, audienceId: member.segmentId }]]
  },
  'contacts.segments.list': async world => {
    const { id, email, segmentId } = await memberOf(world)
    return [...pages(segmentId).map(([page]) => [{ ...page, contactId: id }] as const), [{ email }]] as never
  },
  'contacts.segments.add': async world => {
    const { id, email } = await contactOf(world)
    return [
      [{ contactId: id, segmentId: await segmentOf(world) }],
      [{ email, segmentId: await segmentOf(world) }],
    ]
  },
  'contacts.segments.remove': async world => {
    const member = await memberOf(world)
    const other = await memberOf(world)
    const segmentId = await segmentOf(world)
    const { id } = await world.make('/contacts', {
      ...{ email: `${world.fresh('eve')}@there.example`, segments: [{ id: segmentId }] },
    })
    return [
      [{ contactId: member.id, segmentId: member.segmentId }],
      [{ email: other.email, segmentId: other.segmentId }],
      [{ contactId: id, segmentId }],
    ]
  },
  'contacts.topics.list': async world => {
    const { id, email } = await contactOf(world)
    const topic = await topicOf(world)
    return [...pages(topic).map(([page]) => [{ ...page, id }]), [{ email }]] as never
  },
  'contacts.topics.update': async world => {
    const { id, email } = await contactOf(world)
    const topics = [{ id: await topicOf(world), subscription: 'opt_out' as const }]
    return [[{ id, topics }], [{ email, topics }]]
  },
  'contacts.imports.create': async world => {
    const columnMap = { email: 'mail', firstName: 'given', lastName: 'last', unsubscribed: 'out' }
    const properties = { town: { column: 'town', type: 'string' as const } }
    return [
      [{ file: new Blob([`email\n${world.fresh('dan')}@there.example\n`]) }],
      [{ file: csv(world), columnMap: { ...columnMap, properties }, onConflict: 'upsert' }],
      [{ file: csv(world), columnMap, onConflict: 'skip', segments: [{ id: await segmentOf(world) }] }],
      [
        {
          ...{ file: csv(world), columnMap },
          segments: [{ id: await segmentOf(world) }, { id: await segmentOf(world) }],
        },
      ],
      [{ file: csv(world), columnMap, topics: [{ id: await topicOf(world), subscription: 'opt_in' }] }],
    ]
  },
  'contacts.imports.list': async world => [...pages(await importOf(world)), [{ status: 'completed' }]],
  'contacts.imports.get': async world => [[await importOf(world)]],

  'topics.create': ({ fresh }) => [
    [{ name: fresh('Digest'), defaultSubscription: 'opt_in' }],
    [{ name: fresh('Digest'), defaultSubscription: 'opt_out', description: 'Once a week' }],
  ],
  'topics.get': async world => [[await topicOf(world)]],
  'topics.list': async world => {
    await topicOf(world)
    return [[]]
  },
  'topics.update': async world => [
    [{ id: await topicOf(world), name: world.fresh('Monthly'), description: 'Once a month' }],
  ],
  'topics.remove': async world => [[await topicOf(world)]],

  'contactProperties.create': ({ fresh }) => [
    [{ key: fresh('key'), type: 'string' }],
    [{ key: fresh('key'), type: 'number', fallbackValue: 7 }],
  ],
  'contactProperties.get': async world => [[await propertyOf(world)]],
  'contactProperties.list': async world => pages(await propertyOf(world)),
  'contactProperties.update': async world => [[{ id: await propertyOf(world), fallbackValue: 'none' }]],
  'contactProperties.remove': async world => [[await propertyOf(world)]],

  'suppressions.add': ({ fresh }) => [[{ email: `${fresh('no')}@there.example` }]],
  'suppressions.get': async world => {
    const { id, email } = await suppressionOf(world)
    return [[id], [email]]
  },
  'suppressions.list': async world => [...pages((await suppressionOf(world)).id), [{ origin: 'manual' }]],
  'suppressions.remove': async world => [
    [(await suppressionOf(world)).id],
    [(await suppressionOf(world)).email],
  ],
  'suppressions.batch.add': ({ fresh }) => [[{ emails: [`${fresh('no')}@there.example`] }]],
  'suppressions.batch.remove': async world => [
    [{ emails: [(await suppressionOf(world)).email] }],
    [{ ids: [(await suppressionOf(world)).id] }],
  ],
}
