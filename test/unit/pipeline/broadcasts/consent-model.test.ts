/**
 * Random histories of everything that changes or uses consent, held against a small model of what it must be:
 * nobody who has left is sent to again before they, or an act that the contract allows, bring them back.
 */
import * as assert from 'uvu/assert'
import { type Id, idKey, sameId } from '../../../../src/lib/ids.ts'
import { forecastRecipients } from '../../../../src/pipeline/broadcasts/forecast.ts'
import { createImporter } from '../../../../src/resources/contacts/import/importer.ts'
import { surveyImport } from '../../../../src/resources/contacts/import/survey.ts'
import { optOutsOf } from '../../../../src/resources/contacts/opt-outs.ts'
import { contactsByAddress } from '../../../../src/resources/contacts/read.ts'
import { unsubscribedTopicsOf } from '../../../../src/resources/contacts/subscriptions.ts'
import { inPieces } from '../../../kit/audience.ts'
import { newId } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { openBroadcasts } from './scene.ts'

const test = suite('broadcasts/consent model')

const AUDIENCES = 3
const PEOPLE = 2
/** Default subscriptions of the topics. */
const TOPICS = ['opt_in', 'opt_out'] as const

interface ModelContact {
  hasLeft: boolean
  /** Explicit subscriptions by topic. */
  text: Map<number, boolean>
}
type Scope = number | 'everything'

/** Reference model of consent. People, audiences and topics are numbers. */
class Model {
  /** Contacts by audience and person. */
  readonly contacts = Array.from({ length: AUDIENCES }, () => new Map<number, ModelContact>())
  /** Topics, or everything, from which the owner of an address has unsubscribed; it outlives contacts. */
  readonly left = Array.from({ length: PEOPLE }, () => new Set<Scope>())
  readonly suppressed = new Set<number>()

  of(person: number): ModelContact[] {
    return this.contacts.flatMap(audience => audience.get(person) ?? [])
  }

  /** The contact itself, or all with its address. */
  reached(audience: number, person: number, isEverywhere: boolean): ModelContact[] {
    const contact = this.contacts[audience]!.get(person)
    if (!contact) return []
    return isEverywhere ? this.of(person) : [contact]
  }

  add(audience: number, person: number, contact: ModelContact): void {
    const left = this.left[person]!
    if (left.has('everything')) contact.hasLeft = true
    for (const topic of TOPICS.keys()) if (left.has(topic)) contact.text.set(topic, false)
    this.contacts[audience]!.set(person, contact)
  }

  isIn({ text }: ModelContact, topic: number): boolean {
    return text.get(topic) ?? TOPICS[topic] === 'opt_in'
  }

  /** Returns the recipients of a broadcast to the audience. */
  recipients(audience: number, topic: number | null): number[] {
    return [...this.contacts[audience]!]
      .filter(([person, contact]) => {
        if (contact.hasLeft || this.suppressed.has(person)) return false
        return topic === null || this.isIn(contact, topic)
      })
      .map(([person]) => person)
      .sort()
  }
}

const audience = fc.nat({ max: AUDIENCES - 1 })
const person = fc.nat({ max: PEOPLE - 1 })
const topic = fc.nat({ max: TOPICS.length - 1 })
const act = <Name extends string, T extends object>(
  what: Name,
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
) => fc.record({ what: fc.constant(what), ...fields } as never) as fc.Arbitrary<{ what: Name } & T>
const place = { audience, person }
type Place = { audience: number; person: number }

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: act<'add', Place & { hasLeft: boolean }>('add', { ...place, hasLeft: fc.boolean() }),
  },
  {
    weight: 6,
    arbitrary: act<'change', Place & { hasLeft: boolean; byId: boolean; isEverywhere: boolean }>('change', {
      ...place,
      ...{ hasLeft: fc.boolean(), byId: fc.boolean(), isEverywhere: fc.boolean() },
    }),
  },
  act<'rename', Place & { to: number }>('rename', { ...place, to: person }),
  {
    weight: 4,
    arbitrary: act<'place', Place & { hasLeft: boolean }>('place', { ...place, hasLeft: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: act<'remove', Place & { byId: boolean }>('remove', { ...place, byId: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: act<
      'import',
      {
        audience: number
        isUpdate: boolean
        column: string
        rows: [number, boolean][]
        text: [number, boolean][]
      }
    >('import', {
      audience,
      isUpdate: fc.boolean(),
      column: fc.constantFrom('unsubscribed', 'dnc', 'Status'),
      rows: fc.array(fc.tuple(person, fc.boolean()), { maxLength: 4 }),
      text: fc.uniqueArray(fc.tuple(topic, fc.boolean()), { maxLength: 2, selector: ([one]) => one }),
    }),
  },
  {
    weight: 3,
    arbitrary: act<'leave', { person: number; topic: number | null }>('leave', {
      person,
      topic: fc.option(topic),
    }),
  },
  {
    weight: 2,
    arbitrary: act<'prefer', { person: number; topics: number[]; ofLink: number | null }>('prefer', {
      person,
      topics: fc.uniqueArray(topic, { maxLength: 2 }),
      ofLink: fc.option(topic),
    }),
  },
  {
    weight: 2,
    arbitrary: act<'subscribe', Place & { topic: number; isIn: boolean; isEverywhere: boolean }>(
      'subscribe',
      {
        ...place,
        ...{ topic, isIn: fc.boolean(), isEverywhere: fc.boolean() },
      },
    ),
  },
  act<'suppress', { person: number }>('suppress', { person }),
  act<'unsuppress', { person: number }>('unsuppress', { person }),
  act<'replace', { audience: number }>('replace', { audience }),
  {
    weight: 1,
    arbitrary: act<'send', { audience: number; topic: number | null }>('send', {
      audience,
      topic: fc.option(topic),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** An account with topics that the preferences page shows, and the acts on it. */
async function openAccount(t: TestContext) {
  const scene = await openBroadcasts(t)
  const { run, clock, accountId } = scene
  const topicIds: Id[] = []
  for (const defaultSubscription of TOPICS) {
    const id = newId(clock.now())
    const fields = { name: 'News', description: null, defaultSubscription, visibility: 'public' as const }
    await run('createTopic', { accountId, id, fields, at: clock.now() })
    topicIds.push(id)
  }
  const newAudience = async () => {
    const id = newId(clock.now())
    await run('createAudience', { accountId, id, name: 'All', at: clock.now() })
    return id
  }
  return { ...scene, topicIds, newAudience, importContacts: createImporter({ run, clock, newId }) }
}

/** One history: the product and the model take the same steps. */
class History {
  readonly #account: Awaited<ReturnType<typeof openAccount>>
  readonly #audiences: Id[]
  readonly #domain: string
  readonly #model = new Model()

  constructor(account: Awaited<ReturnType<typeof openAccount>>, audiences: Id[], domain: string) {
    this.#account = account
    this.#audiences = audiences
    this.#domain = domain
  }

  async take(step: Step): Promise<void> {
    this.#account.clock.advance(1_000)
    const { what } = step
    if (what === 'add') await this.#add(step)
    else if (what === 'change') await this.#change(step)
    else if (what === 'rename') await this.#rename(step)
    else if (what === 'place') await this.#place(step)
    else if (what === 'remove') await this.#remove(step)
    else if (what === 'import') await this.#import(step)
    else if (what === 'leave') await this.#leave(step)
    else if (what === 'prefer') await this.#prefer(step)
    else if (what === 'subscribe') await this.#subscribe(step)
    else if (what === 'replace') await this.#replace(step)
    else if (what === 'send') await this.send(step.audience, step.topic)
    else await this.#suppress(step)
    await this.#compare(step)
  }

  /** Compares what is stored of each person after a step. */
  async #compare(step: Step): Promise<void> {
    const { db, accountId, topicIds } = this.#account
    for (let person = 0; person < PEOPLE; person++) {
      const contacts = await contactsByAddress(db, accountId, this.#email(person))
      const ids = contacts.map(({ id }) => id)
      const outOf = await unsubscribedTopicsOf(db, accountId, ids)
      const stored = this.#audiences.map(audienceId => {
        const contact = contacts.find(one => sameId(one.audienceId, audienceId))
        if (!contact) return null
        const out = outOf(contact.id)
        return [contact.unsubscribed === 1, topicIds.map(id => !out.some(topic => sameId(topic, id)))]
      })
      const expected = this.#model.contacts.map(audience => {
        const contact = audience.get(person)
        return contact
          ? [contact.hasLeft, [...TOPICS.keys()].map(one => this.#model.isIn(contact, one))]
          : null
      })
      assert.equal(stored, expected, `person ${person} after ${JSON.stringify(step)}`)
      const left = (await optOutsOf(db, accountId, [this.#email(person)])).get(this.#email(person))
      const scopes = [
        ...(left?.isFromEverything ? ['everything'] : []),
        ...[...TOPICS.keys()].filter(one => left?.topicIds.some(id => sameId(id, topicIds[one]!))),
      ]
      assert.equal(
        new Set(scopes),
        this.#model.left[person],
        `what ${person} left, after ${JSON.stringify(step)}`,
      )
    }
  }

  async send(audience: number, topic: number | null): Promise<void> {
    const { db, clock, accountId, sending, work, rows, topicIds } = this.#account
    const topicId = topic === null ? null : topicIds[topic]!
    const audienceId = this.#audiences[audience]!
    const broadcast = { accountId, audienceId, segmentId: null, topicId }
    const forecast = await forecastRecipients(db, clock, { broadcast, quota: null })
    const id = await sending({ audienceId, topicId })
    await work()
    const sent = rows<{ address: string }>(
      'select address from deliveries join emails on emails.id = email_id where broadcast_id = ?',
      id,
    )
    assert.equal(
      sent.map(({ address }) => address).sort(),
      this.#model.recipients(audience, topic).map(person => this.#email(person)),
      `broadcast to audience ${audience}, topic ${topic}`,
    )
    assert.is(forecast?.recipientCount, sent.length, 'as many as were forecast')
  }

  #email(person: number): string {
    return `p${person}@${this.#domain}`
  }

  #at(audience: number) {
    const { accountId, clock } = this.#account
    return { accountId, audienceId: this.#audiences[audience]!, at: clock.now() }
  }

  #fields(person: number, unsubscribed: boolean) {
    return {
      email: this.#email(person),
      unsubscribed,
      firstName: null,
      lastName: null,
      properties: new Map(),
    }
  }

  async #ref({ audience, person }: Place, byId: boolean) {
    const email = this.#email(person)
    const contact = await this.#account.db
      .selectFrom('contacts')
      .select('id')
      .where('audienceId', '=', this.#audiences[audience]!)
      .where('email', '=', email)
      .executeTakeFirst()
    return byId && contact ? { id: contact.id } : { email }
  }

  async #add({ audience, person, hasLeft }: Place & { hasLeft: boolean }) {
    const { run, clock } = this.#account
    const fields = this.#fields(person, hasLeft)
    await run('addContact', { ...this.#at(audience), id: newId(clock.now()), fields })
    if (!this.#model.contacts[audience]!.has(person))
      this.#model.add(audience, person, { hasLeft, text: new Map() })
  }

  async #change(step: Place & { hasLeft: boolean; byId: boolean; isEverywhere: boolean }) {
    const { audience, person, hasLeft, byId, isEverywhere } = step
    const ref = await this.#ref(step, byId)
    const reach = isEverywhere ? { reach: 'account' as const } : {}
    const changes = { unsubscribed: hasLeft }
    await this.#account.run('changeContact', { ...this.#at(audience), ref, changes, ...reach })
    const reached = this.#model.reached(audience, person, isEverywhere)
    for (const contact of reached) contact.hasLeft = hasLeft
    if (reached.length > 0 && !hasLeft) this.#model.left[person]!.delete('everything')
    if (reached.length > 0 && hasLeft && isEverywhere) this.#model.left[person]!.add('everything')
  }

  async #rename({ audience, person, to }: Place & { to: number }) {
    const changes = { email: this.#email(to) }
    const ref = await this.#ref({ audience, person }, true)
    await this.#account.run('changeContact', { ...this.#at(audience), ref, changes })
    const contacts = this.#model.contacts[audience]!
    const contact = contacts.get(person)
    if (!contact || contacts.has(to)) return
    contacts.delete(person)
    this.#model.add(audience, to, contact)
  }

  async #place({ audience, person, hasLeft }: Place & { hasLeft: boolean }) {
    const { run, clock } = this.#account
    const { audienceId, ...terms } = this.#at(audience)
    const ids = { ids: [newId(clock.now())], newAudienceId: newId(clock.now()), audienceIds: [audienceId] }
    await run('addAccountContact', {
      ...terms,
      ...ids,
      fields: this.#fields(person, hasLeft),
      subscriptions: [],
    })
    if (this.#model.contacts[audience]!.has(person)) return
    const known = this.#known(person)
    const stays = known.length > 0 && known.every(contact => contact.hasLeft)
    const text = new Map(known[0]?.text)
    this.#model.add(audience, person, { hasLeft: hasLeft || stays, text })
  }

  /** Contacts of the person, those of older audiences first. */
  #known(person: number): ModelContact[] {
    const order = [...this.#audiences.keys()].sort((a, b) =>
      idKey(this.#audiences[a]!) < idKey(this.#audiences[b]!) ? -1 : 1,
    )
    return order.flatMap(audience => this.#model.contacts[audience]!.get(person) ?? [])
  }

  async #remove({ audience, person, byId }: Place & { byId: boolean }) {
    const ref = await this.#ref({ audience, person }, byId)
    await this.#account.run('removeContact', { ...this.#at(audience), ref })
    this.#model.contacts[audience]!.delete(person)
  }

  async #import({ audience, isUpdate, column, rows, text }: Extract<Step, { what: 'import' }>) {
    const { importContacts, topicIds } = this.#account
    const cell = (hasLeft: boolean) => {
      if (column === 'Status') return hasLeft ? 'unsubscribed' : 'subscribed'
      return hasLeft ? '1' : '0'
    }
    const lines = rows.map(([person, hasLeft]) => `${this.#email(person)},${cell(hasLeft)}\n`)
    const bytes = () => inPieces(Buffer.from(`email,${column}\n${lines.join('')}`), 1_000)
    const plan = await surveyImport({ bytes: bytes(), charset: undefined })
    const { accountId, audienceId } = this.#at(audience)
    const subscriptions = text.map(([topic, subscribed]) => ({ topicId: topicIds[topic]!, subscribed }))
    const onExisting = isUpdate ? 'update' : 'skip'
    await importContacts({
      ...{ accountId, audienceId, onExisting, subscriptions, plan, charset: undefined, bytes: bytes() },
    })
    for (const [person, hasLeft] of rows) this.#importRow(audience, person, hasLeft, isUpdate, text)
  }

  #importRow(
    audience: number,
    person: number,
    hasLeft: boolean,
    isUpdate: boolean,
    wanted: readonly [number, boolean][],
  ) {
    const contacts = this.#model.contacts[audience]!
    const known = contacts.get(person)
    if (known && !isUpdate) return
    const contact = known ?? { hasLeft, text: new Map<number, boolean>() }
    if (hasLeft) contact.hasLeft = true
    for (const [topic, isIn] of wanted)
      if (isIn !== this.#model.isIn(contact, topic) && !(isIn && contact.text.get(topic) === false))
        contact.text.set(topic, isIn)
    if (!known) this.#model.add(audience, person, contact)
  }

  async #leave({ person, topic }: { person: number; topic: number | null }) {
    const { run, accountId, topicIds, clock } = this.#account
    const topicId = topic === null ? null : topicIds[topic]!
    await run('leave', {
      ...{ accountId, address: this.#email(person), topicId, broadcastId: null, at: clock.now() },
    })
    this.#model.left[person]!.add(topic ?? 'everything')
    for (const contact of this.#model.of(person))
      if (topic === null) contact.hasLeft = true
      else contact.text.set(topic, false)
  }

  async #prefer({ person, topics, ofLink }: { person: number; topics: number[]; ofLink: number | null }) {
    const { run, accountId, topicIds, clock } = this.#account
    await run('setPreferences', {
      ...{ accountId, address: this.#email(person), broadcastId: null, at: clock.now() },
      ...{ topicId: ofLink === null ? null : topicIds[ofLink]!, topics: topics.map(one => topicIds[one]!) },
    })
    const contacts = this.#model.of(person)
    const left = this.#model.left[person]!
    const wasLeft = contacts.length === 0 ? left.has('everything') : contacts.every(one => one.hasLeft)
    if (wasLeft && topics.length === 0) return
    if (topics.length > 0) {
      left.delete('everything')
      for (const contact of contacts) contact.hasLeft = false
    }
    for (const topic of TOPICS.keys()) {
      const isIn = topics.includes(topic)
      if (isIn) left.delete(topic)
      else left.add(topic)
      for (const contact of contacts)
        if (this.#model.isIn(contact, topic) !== isIn) contact.text.set(topic, isIn)
    }
  }

  async #subscribe(step: Place & { topic: number; isIn: boolean; isEverywhere: boolean }) {
    const { audience, person, topic, isIn, isEverywhere } = step
    const { run, topicIds } = this.#account
    await run('subscribe', {
      ...this.#at(audience),
      ref: await this.#ref(step, false),
      subscriptions: [{ topicId: topicIds[topic]!, subscribed: isIn }],
      ...(isEverywhere ? { reach: 'account' as const } : {}),
    })
    const reached = this.#model.reached(audience, person, isEverywhere)
    for (const contact of reached) contact.text.set(topic, isIn)
    if (reached.length > 0 && isIn) this.#model.left[person]!.delete(topic)
    if (reached.length > 0 && !isIn && isEverywhere) this.#model.left[person]!.add(topic)
  }

  async #suppress({ what, person }: { what: 'suppress' | 'unsuppress'; person: number }) {
    const { run, accountId, clock } = this.#account
    const email = this.#email(person)
    if (what === 'suppress') {
      await run('suppress', [{ accountId, email, reason: 'manual', sourceId: null, at: clock.now() }])
      this.#model.suppressed.add(person)
    } else {
      await run('unsuppress', { accountId, refs: [{ email }] })
      this.#model.suppressed.delete(person)
    }
  }

  /** The audience is deleted, and another one takes its place. */
  async #replace({ audience }: { audience: number }) {
    const { accountId, audienceId: id, at } = this.#at(audience)
    await this.#account.run('deleteAudience', { accountId, id, at })
    this.#audiences[audience] = await this.#account.newAudience()
    this.#model.contacts[audience]!.clear()
  }
}

const { seed } = fc.readConfigureGlobal()
test(`consent: whoever has left is not sent to, after any history (seed ${seed})`, async t => {
  const account = await openAccount(t)
  let histories = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }), async steps => {
      const audiences: Id[] = []
      for (let i = 0; i < AUDIENCES; i++) audiences.push(await account.newAudience())
      const history = new History(account, audiences, `h${histories++}.test`)
      for (const one of steps) await history.take(one)
      for (const audience of audiences.keys()) await history.send(audience, null)
      for (const topic of TOPICS.keys()) await history.send(topic, topic)
    }),
    { numRuns: 40 },
  )
})

test.run()
