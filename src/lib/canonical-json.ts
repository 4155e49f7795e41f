/** JSON whose text does not depend on the order in which keys were given. */

export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, node: unknown) => {
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return node
    const sorted: Record<string, unknown> = Object.create(null)
    for (const key of Object.keys(node).sort()) sorted[key] = (node as Record<string, unknown>)[key]
    return sorted
  })
}
