/** What the check-up looks at, in words. */

const CHECKS: Readonly<Record<string, string>> = {
  outbound_port: 'Way out to mail servers',
  base_url: 'Address of links',
  reverse_name: 'Name of our address',
  zone_delegation: 'Our DNS zone',
  zone_records: 'Records of our zone',
  zone_keys: 'Signing keys in DNS',
  own_dmarc: 'DMARC of our own name',
  blocklist: 'Block list',
  certificate: 'Certificate',
  clock: 'Clock',
  inbound_mail: 'Way in for mail',
  disk_space: 'Room on the disk',
  disk_sync: 'Speed of the disk',
  file_permissions: 'Permissions of the data folder',
  open_files: 'Open files',
}

export function checkWords(check: string): string {
  return CHECKS[check] ?? check.replaceAll('_', ' ')
}
