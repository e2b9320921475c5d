/** Tests. */
@NullMarked
package io.seriatim.cli.bench.executor;

import org.jspecify.annotations.NullMarked;
