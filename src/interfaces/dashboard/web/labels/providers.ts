/** Names of mailbox providers, as their users know them. */

const NAMES: Readonly<Record<string, string>> = {
  google: 'Gmail and Google Workspace',
  outlook: 'Outlook.com and Hotmail',
  microsoft365: 'Microsoft 365',
  yahoo: 'Yahoo and AOL',
  apple: 'iCloud',
  gmx: 'GMX, WEB.DE and IONOS',
  telekom: 'T-Online',
  mailru: 'Mail.ru',
  att: 'AT&T',
  qq: 'QQ',
  netease: 'NetEase (163, 126)',
}

/** Returns a name for a provider, and a domain as it is. */
export function providerName(provider: string): string {
  if (provider.includes('.')) return provider
  return NAMES[provider] ?? provider.slice(0, 1).toUpperCase() + provider.slice(1)
}
