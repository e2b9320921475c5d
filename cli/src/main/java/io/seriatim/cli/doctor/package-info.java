/** The command {@code seriatim doctor}: what Seriatim finds on this machine, and what it misses. */
@NullMarked
package io.seriatim.cli.doctor;

import org.jspecify.annotations.NullMarked;
