/** Serves alerts for operators, such as replies of mail servers that point to a poor reputation. */
import { idKey, parseWireId } from '../../../lib/ids.ts'
import { accountNames } from '../../../resources/accounts/account-rows.ts'
import { listOperatorAlerts } from '../../../resources/alerts/operator-alerts.ts'
import type { Db } from '../../../store/model/schema.ts'
import { requireOperator } from '../auth/operator.ts'
import { listReply, type Route } from '../route/route.ts'
import { pageQuery, readPage } from '../schema/read.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { alertSchema, alertView } from './schema.ts'

export function alertRoutes({ db }: { db: Db }): Route[] {
  return [
    {
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
          rows.map(row => alertView(row, nameOf)),
        )
      },
    },
  ]
}
