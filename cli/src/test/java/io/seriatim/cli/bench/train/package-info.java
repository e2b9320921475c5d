/** Tests. */
@NullMarked
package io.seriatim.cli.bench.train;

import org.jspecify.annotations.NullMarked;
