@NullMarked
package io.seriatim.benchmarks.engine;

import org.jspecify.annotations.NullMarked;
