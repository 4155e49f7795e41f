/** Serves alerts for operators, such as replies of mail servers that point to a poor reputation. */
import type { Clock } from '../../../lib/clock.ts'
import { idKey, parseWireId } from '../../../lib/ids.ts'
import type { TestedChannel } from '../../../pipeline/alerts/channel-test.ts'
import { accountNames } from '../../../resources/accounts/account-rows.ts'
import { listOperatorAlerts } from '../../../resources/alerts/operator-alerts.ts'
import { listSilences, type silenceCommands, silenceOf } from '../../../resources/alerts/silences.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import { requireOperator } from '../auth/operator.ts'
import { type ApiRequest, listReply, ok, type Route } from '../route/route.ts'
import { pageQuery, readPage } from '../schema/read.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import {
  alertSchema,
  alertView,
  channelView,
  conditionBodySchema,
  readCondition,
  readSilence,
  silenceBodySchema,
  silenceListSchema,
  silenceSchema,
  silenceView,
  testSchema,
  unsilenceSchema,
} from './schema.ts'

interface AlertRoutesOptions {
  db: Db
  run: Run<typeof silenceCommands>
  clock: Clock
  /** Sends a test alert by every channel. */
  test(): Promise<TestedChannel[]>
}

export function alertRoutes(options: AlertRoutesOptions): Route[] {
  return [listRoute(options), ...silenceRoutes(options), testRoute(options)]
}

function listRoute({ db, clock }: AlertRoutesOptions): Route {
  return {
    method: 'GET',
    path: '/alerts',
    access: 'session',
    summary: 'List alerts about reputation, authentication and certificates, newest first (operator)',
    query: pageQuery(),
    replies: { 200: listSchema(alertSchema) },
    async handle(request) {
      requireOperator(request)
      const page = readPage(request.query)
      const { total, rows } = await listOperatorAlerts(db, page)
      const silences = await listSilences(db, clock.now())
      const names = await accountNames(
        db,
        rows.flatMap(({ provider }) => parseWireId('acc', provider) ?? []),
      )
      const nameOf = (text: string) => {
        const id = parseWireId('acc', text)
        return id && names.get(idKey(id))
      }
      return listReply(
        { total, offset: page.offset },
        rows.map(row => alertView(row, { nameOf, silence: silenceOf(silences, row) })),
      )
    },
  }
}

function silenceRoutes({ db, run, clock }: AlertRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/alerts/silences',
      access: 'session',
      summary: 'List silences of alerts that last (operator)',
      replies: { 200: silenceListSchema },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'list', data: (await listSilences(db, clock.now())).map(silenceView) })
      },
    },
    {
      method: 'POST',
      path: '/alerts/silence',
      access: 'session',
      summary: 'Silence alerts of a kind, or about one subject, until a time (operator)',
      body: silenceBodySchema,
      replies: { 200: silenceSchema },
      async handle(request) {
        requireOperator(request)
        const createdAt = clock.now()
        const silence = {
          ...readSilence(await request.body(), createdAt),
          createdBy: nameOfCredential(request),
          createdAt,
        }
        await run('silenceAlerts', silence)
        return ok(silenceView(silence))
      },
    },
    {
      method: 'POST',
      path: '/alerts/unsilence',
      access: 'session',
      summary: 'End a silence of alerts (operator)',
      body: conditionBodySchema,
      replies: { 200: unsilenceSchema },
      async handle(request) {
        requireOperator(request)
        const condition = readCondition(await request.body())
        const ended = await run('unsilenceAlerts', { ...condition, now: clock.now() })
        return ok({ object: 'alert_unsilence', ended })
      },
    },
  ]
}

function testRoute({ test }: AlertRoutesOptions): Route {
  return {
    method: 'POST',
    path: '/alerts/test',
    access: 'session',
    summary: 'Send a test alert by every channel, and say what each answered (operator)',
    replies: { 200: testSchema },
    async handle(request) {
      requireOperator(request)
      return ok({ object: 'alert_test', channels: (await test()).map(channelView) })
    },
  }
}

/** Returns the address of the user, or the name of the access token. */
function nameOfCredential({ credential }: ApiRequest): string {
  if (credential.kind === 'session') return credential.session.email
  if (credential.kind === 'token') return credential.name
  throw new Error('an API key is no operator')
}
