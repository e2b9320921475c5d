@NullMarked
package io.seriatim.benchmarks;

import org.jspecify.annotations.NullMarked;
