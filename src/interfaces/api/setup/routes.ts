/** Serves operators what `mailhorn init` and `mailhorn email test` do: plan, checks and the first email. */
import type * as z from 'zod'
import { domainsNamed } from '../../../resources/domains/domain-rows.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { DoctorReport } from '../../doctor/finding.ts'
import { ownNameOf } from '../../setup/answers.ts'
import { plannedSettings } from '../../setup/guide.ts'
import { type OwnName, settingsOf } from '../../setup/own-name.ts'
import { sendTestEmail, TestEmailRefused, type TestParts } from '../../setup/test-email.ts'
import { ApiError, invalidField } from '../api-error.ts'
import { requireOperator } from '../auth/operator.ts'
import { reportSchema } from '../doctor/routes.ts'
import { ok, type Route } from '../route/route.ts'
import {
  answersSchema,
  type GivenAnswers,
  isApplied,
  planSchema,
  planView,
  readAnswers,
  readMailbox,
  readTestEmail,
  setupSchema,
  testEmailSchema,
  testedEmailSchema,
  testedEmailView,
} from './schema.ts'

export interface SetupRoutesOptions {
  /** Returns what the running service is set to. */
  describe(): Omit<z.output<typeof setupSchema>, 'object'>
  /** Returns the names of those settings that the running service has other values of. */
  differingOf(settings: Readonly<Record<string, string>>): string[]
  /** Checks this host for a service with other settings. */
  examineHost(settings: Readonly<Record<string, string>>, own: OwnName): Promise<DoctorReport>
  /** Checks the running service. */
  examine(): Promise<DoctorReport>
  db: Db
  testParts: TestParts
}

export function setupRoutes(options: SetupRoutesOptions): Route[] {
  const { describe, differingOf, examine, examineHost } = options
  const setupOf = (answers: GivenAnswers) => {
    const own = ownNameOf(answers, describe().interface_addresses)
    return { own, differing: differingOf(Object.fromEntries(settingsOf(own, answers.run))) }
  }
  return [
    {
      method: 'GET',
      path: '/setup',
      access: 'session',
      summary: 'Retrieve what is known of the setup of this installation (operator)',
      replies: { 200: setupSchema },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'setup', ...describe() })
      },
    },
    {
      method: 'POST',
      path: '/setup/plan',
      access: 'session',
      whileReadOnly: true,
      summary: 'Retrieve settings, firewall commands and DNS records of a public installation (operator)',
      body: answersSchema,
      replies: { 200: planSchema },
      async handle(request) {
        requireOperator(request)
        const answers = readAnswers(await request.body())
        const { own, differing } = setupOf(answers)
        return ok(planView(own, answers.run, differing))
      },
    },
    {
      method: 'POST',
      path: '/setup/checks',
      access: 'session',
      whileReadOnly: true,
      summary:
        'Check the host, or the whole installation once the service has the settings of the plan (operator)',
      body: answersSchema,
      replies: { 200: reportSchema },
      async handle(request) {
        requireOperator(request)
        const answers = readAnswers(await request.body())
        const { own, differing } = setupOf(answers)
        const report = isApplied(differing) ? examine() : examineHost(plannedSettings(own, answers.run), own)
        return ok({ object: 'doctor', ...(await report) })
      },
    },
    testEmailRoute(options),
  ]
}

function testEmailRoute({ db, testParts }: SetupRoutesOptions): Route {
  return {
    method: 'POST',
    path: '/setup/test-email',
    access: 'session',
    summary: 'Send a test email once the DNS records of its domain are found (operator)',
    body: testEmailSchema,
    replies: { 200: testedEmailSchema },
    async handle(request) {
      requireOperator(request)
      const { from: sender, to, allRecords } = readTestEmail(await request.body())
      const from = readMailbox('from', sender)
      const recipients = to.map((text, i) => readMailbox(`to[${i}]`, text))
      const { accountId } = request.credential
      const [domain] = await domainsNamed(db, from.domain, accountId)
      if (!domain)
        throw invalidField('from', `Invalid \`from\` field: the account has no domain ${from.domain}.`)
      try {
        const chosen = { from, accountId, domainId: domain.id }
        const tested = await sendTestEmail(testParts, chosen, { to: recipients, needsAll: allRecords })
        return ok(testedEmailView(tested))
      } catch (error) {
        if (!(error instanceof TestEmailRefused)) throw error
        throw new ApiError(422, 'validation_error', error.message)
      }
    },
  }
}
