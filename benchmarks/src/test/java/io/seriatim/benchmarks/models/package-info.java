/** Tests of the measurement of models in files. */
@NullMarked
package io.seriatim.benchmarks.models;

import org.jspecify.annotations.NullMarked;
