/** Tests. */
@NullMarked
package io.seriatim.cli.bench.serve;

import org.jspecify.annotations.NullMarked;
