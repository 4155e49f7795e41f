/** Accounts: the operator makes and steers all of them; everybody else sees one, with what it has used of its plan. */
import type { Accounts } from '../../accounts/accounts.ts'
import type { Plans } from '../../accounts/plans.ts'
import { type Id, parseWireId, sameId } from '../../lib/ids.ts'
import { insistOnOperator, isOperator } from '../operator.ts'
import { notFound } from '../refused.ts'
import { type ApiRequest, created, listReply, ok, type Route } from '../route.ts'
import {
  ownedAccountView,
  ownerTaken,
  readAccountChange,
  readNewAccount,
  usageView,
} from '../wire/account.ts'
import { readPage } from '../wire/read.ts'

interface AccountRoutesOptions {
  accounts: Accounts
  plans: Plans
}

export function accountRoutes({ accounts, plans }: AccountRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/accounts',
      access: 'session',
      async handle(request) {
        insistOnOperator(request)
        const wanted = readNewAccount(await request.body(), plans.all)
        const made = await accounts.create(wanted)
        if (made === 'taken') throw ownerTaken()
        return created({ ...ownedAccountView(made.account), password: made.password })
      },
    },
    {
      method: 'GET',
      path: '/accounts',
      access: 'session',
      async handle(request) {
        insistOnOperator(request)
        const page = readPage(request.query)
        const { total, rows } = await accounts.list(page)
        return listReply({ total, offset: page.offset }, rows.map(ownedAccountView))
      },
    },
    {
      method: 'GET',
      path: '/accounts/:id',
      access: 'session',
      handle: async request => ok(ownedAccountView(await find(accounts, seenId(request)))),
    },
    {
      method: 'PATCH',
      path: '/accounts/:id',
      access: 'session',
      async handle(request) {
        const id = steeredId(request)
        const result = await accounts.change(id, readAccountChange(await request.body(), plans.all))
        if (result === 'missing') throw notFound('Account')
        if (result === 'taken') throw ownerTaken()
        return ok(ownedAccountView(result))
      },
    },
    {
      method: 'POST',
      path: '/accounts/:id/reset-password',
      access: 'session',
      async handle(request) {
        const account = await find(accounts, steeredId(request))
        const password = await accounts.resetPassword(account.id)
        if (password === undefined) throw notFound('Account')
        return ok({ ...ownedAccountView(account), password })
      },
    },
    {
      method: 'GET',
      path: '/account',
      access: 'session',
      handle: async ({ credential: { accountId } }) => ok(ownedAccountView(await find(accounts, accountId))),
    },
    {
      method: 'GET',
      path: '/account/usage',
      access: 'session',
      async handle({ credential: { accountId } }) {
        const usage = await accounts.usage(accountId)
        if (!usage) throw notFound('Account')
        return ok(usageView(usage))
      },
    },
  ]
}

/** An operator sees every account, everybody else the own one. @throws Refused 404 */
function seenId(request: ApiRequest): Id {
  const id = parseWireId('acc', request.params.id!)
  if (!id || !(isOperator(request) || sameId(id, request.credential.accountId))) throw notFound('Account')
  return id
}

/** @throws Refused 404, or 403 for the own account of somebody who is no operator */
function steeredId(request: ApiRequest): Id {
  const id = seenId(request)
  insistOnOperator(request)
  return id
}

async function find(accounts: Accounts, id: Id) {
  const account = await accounts.find(id)
  if (!account) throw notFound('Account')
  return account
}
