/** The command {@code seriatim doctor}: describes this machine as Seriatim sees it. */
@NullMarked
package io.seriatim.cli.doctor;

import org.jspecify.annotations.NullMarked;
