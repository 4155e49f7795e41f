/** Serves the logos of recipients' pages. */
import { findLogo } from '../../../resources/domains/brands.ts'
import type { Db } from '../../../store/model/schema.ts'
import { orNotFound } from '../api-error.ts'
import type { Route } from '../route/route.ts'

export function logoRoutes({ db }: { db: Db }): Route[] {
  return [
    {
      method: 'GET',
      path: '/l/:logo',
      access: 'public',
      summary: 'Logo of a sender, for the pages that recipients see',
      replies: { 200: 'image/*' },
      async handle({ params }) {
        const { type, bytes } = orNotFound(await findLogo(db, params.logo!), 'Logo')
        return {
          status: 200,
          headers: {
            'content-type': type,
            // the path contains the hash of the content
            'cache-control': 'public, max-age=31536000, immutable',
            'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
            'x-content-type-options': 'nosniff',
            'x-robots-tag': 'noindex',
          },
          content: bytes,
        }
      },
    },
  ]
}
