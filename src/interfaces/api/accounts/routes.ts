/**
 * Serves accounts. Operators create, list and update all accounts; other users read their own account and its
 * usage.
 */

import type { Clock } from '../../../lib/clock.ts'
import { type Id, sameId, wireId } from '../../../lib/ids.ts'
import { type deletionCommands, HAS_OPERATOR } from '../../../pipeline/deletion/commands.ts'
import type { Accounts } from '../../../resources/accounts/accounts.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import type { Run } from '../../../store/model/command.ts'
import { ApiError, notFound, orNotFound } from '../api-error.ts'
import { isOperator, requireOperator } from '../auth/operator.ts'
import { type ApiRequest, created, listReply, ok, pathId, type Route } from '../route/route.ts'
import { pageQuery, readPage } from '../schema/read.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  accountChangeSchema,
  accountWithPasswordSchema,
  newAccountSchema,
  ownedAccountSchema,
  ownedAccountView,
  ownerTaken,
  readAccountChange,
  readNewAccount,
  usageSchema,
  usageView,
} from './schema.ts'

interface AccountRoutesOptions {
  accounts: Accounts
  plans: Plans
  run: Run<typeof deletionCommands>
  clock: Clock
}

export function accountRoutes(options: AccountRoutesOptions): Route[] {
  return [...allAccountsRoutes(options), deleteRoute(options), ...ownAccountRoutes(options)]
}

/** Routes of all accounts, of which one is open to its own users, too. */
function allAccountsRoutes({ accounts, plans }: AccountRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/accounts',
      access: 'session',
      summary: 'Create an account and its owner (operator); the reply contains the password, once',
      body: newAccountSchema,
      replies: { 201: accountWithPasswordSchema },
      async handle(request) {
        requireOperator(request)
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
      summary: 'List all accounts (operator)',
      query: pageQuery(),
      replies: { 200: listSchema(ownedAccountSchema) },
      async handle(request) {
        requireOperator(request)
        const page = readPage(request.query)
        const { total, rows } = await accounts.list(page)
        return listReply({ total, offset: page.offset }, rows.map(ownedAccountView))
      },
    },
    {
      method: 'GET',
      path: '/accounts/:id',
      access: 'session',
      scopes: ['account:read'],
      summary: 'Retrieve an account: your own, or any as an operator',
      replies: { 200: ownedAccountSchema },
      handle: async request => ok(ownedAccountView(await find(accounts, seenId(request)))),
    },
    {
      method: 'PATCH',
      path: '/accounts/:id',
      access: 'session',
      summary: 'Update an account (operator)',
      body: accountChangeSchema,
      replies: { 200: ownedAccountSchema },
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
      summary: "Give an account's owner a new password (operator)",
      replies: { 200: accountWithPasswordSchema },
      async handle(request) {
        const account = await find(accounts, steeredId(request))
        const password = orNotFound(await accounts.resetPassword(account.id), 'Account')
        return ok({ ...ownedAccountView(account), password })
      },
    },
  ]
}

function deleteRoute({ run, clock }: AccountRoutesOptions): Route {
  return {
    method: 'DELETE',
    path: '/accounts/:id',
    access: 'session',
    summary: 'Delete an account with all its data (operator)',
    replies: { 200: deletedSchema('account', 'acc') },
    async handle(request) {
      const id = steeredId(request)
      const result = await run('deleteAccount', { id, now: clock.now() })
      if (result === 'missing') throw notFound('Account')
      if (result === 'operator') throw new ApiError(422, 'validation_error', HAS_OPERATOR)
      return ok({ object: 'account', id: wireId('acc', id), deleted: true })
    },
  }
}

function ownAccountRoutes({ accounts }: AccountRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/account',
      access: 'session',
      summary: 'Retrieve your account',
      replies: { 200: ownedAccountSchema },
      handle: async ({ credential: { accountId } }) => ok(ownedAccountView(await find(accounts, accountId))),
    },
    {
      method: 'GET',
      path: '/account/usage',
      access: 'session',
      summary: 'Retrieve the plan, its quotas and their usage',
      replies: { 200: usageSchema },
      async handle({ credential: { accountId } }) {
        const usage = orNotFound(await accounts.usage(accountId), 'Account')
        return ok(usageView(usage))
      },
    },
  ]
}

/**
 * Operators may read every account, other users only their own.
 * @throws ApiError 404
 */
function seenId(request: ApiRequest): Id {
  const id = pathId(request, 'acc')
  if (!isOperator(request) && !sameId(id, request.credential.accountId)) throw notFound('Account')
  return id
}

/** @throws ApiError 404, or 403 for users who are not operators */
function steeredId(request: ApiRequest): Id {
  const id = seenId(request)
  requireOperator(request)
  return id
}

async function find(accounts: Accounts, id: Id) {
  return orNotFound(await accounts.find(id), 'Account')
}
