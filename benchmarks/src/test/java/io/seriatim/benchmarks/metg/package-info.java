@NullMarked
package io.seriatim.benchmarks.metg;

import org.jspecify.annotations.NullMarked;
