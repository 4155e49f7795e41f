# Prints the name of the last part of every message of a folder, as Perl's Email::MIME reads it, as JSON.
use strict;
use warnings;
use Email::MIME;
use JSON::PP;

my %names;
for my $path (glob "$ARGV[0]/*.eml") {
    open my $file, '<:raw', $path or die "$path: $!";
    my $message = Email::MIME->new(do { local $/; <$file> });
    my @parts = $message->subparts;
    $names{$path =~ s{.*/}{}r} = $parts[-1]->filename;
}
print JSON::PP->new->ascii->encode(\%names);
