/** Name, colour and logo of a sending domain, which the pages for its recipients show. */
import { hash } from 'node:crypto'
import type { Id } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { Db, DomainBrandRow } from '../../store/model/schema.ts'

/** Media types of logos. SVG is not among them, because it may contain scripts. */
export type LogoType = NonNullable<DomainBrandRow['logoType']>

interface Logo {
  type: LogoType
  bytes: Uint8Array
}

export interface Brand {
  name: string | null
  /** `#rrggbb` in lower case. */
  color: string | null
  /** Path of the logo, which contains its hash. */
  logoPath: string | null
}

/** Absent members are not changed, null removes a value. */
export interface BrandChanges {
  name?: string | null
  color?: string | null
  logo?: Logo | null
}

export const NO_BRAND: Brand = { name: null, color: null, logoPath: null }

const NO_LOGO = { logoType: null, logoHash: null, logo: null }

/** Columns of a brand except the logo itself. */
export const BRAND_COLUMNS = ['domainId', 'name', 'color', 'logoHash'] as const

export function brandOf({
  name,
  color,
  logoHash,
}: Pick<DomainBrandRow, 'name' | 'color' | 'logoHash'>): Brand {
  return { name, color, logoPath: logoHash && `/l/${Buffer.from(logoHash).toString('hex')}` }
}

/** Returns the brand of a domain by its name; undefined if the account has no such domain or it has none. */
export async function findBrand(db: Db, accountId: Id, domain: string): Promise<Brand | undefined> {
  const row = await db
    .selectFrom('domains')
    .innerJoin('domainBrands', 'domainBrands.domainId', 'domains.id')
    .select(['domainBrands.name', 'domainBrands.color', 'domainBrands.logoHash'])
    .where('domains.accountId', '=', accountId)
    .where('domains.name', '=', domain)
    .executeTakeFirst()
  return row && brandOf(row)
}

/** @param name last segment of the path of a logo */
export async function findLogo(db: Db, name: string): Promise<Logo | undefined> {
  if (!/^[\da-f]{64}$/.test(name)) return undefined
  const row = await db
    .selectFrom('domainBrands')
    .select(['logoType', 'logo'])
    .where('logoHash', '=', new Uint8Array(Buffer.from(name, 'hex')))
    .executeTakeFirst()
  return row?.logoType && row.logo ? { type: row.logoType, bytes: row.logo } : undefined
}

/** Runs inside a command. */
export async function changeBrand(
  { db }: Tx,
  domainId: Id,
  { name, color, logo }: BrandChanges,
): Promise<void> {
  const values = {
    ...(name !== undefined && { name }),
    ...(color !== undefined && { color }),
    ...(logo === null && NO_LOGO),
    ...(logo && {
      logoType: logo.type,
      logoHash: new Uint8Array(hash('sha256', logo.bytes, 'buffer')),
      logo: logo.bytes,
    }),
  }
  if (Object.keys(values).length === 0) return
  await db
    .insertInto('domainBrands')
    .values({ domainId, name: null, color: null, ...NO_LOGO, ...values })
    .onConflict(conflict => conflict.column('domainId').doUpdateSet(values))
    .execute()
}
