/** A web service that serves a model. {@link io.seriatim.examples.serve.PredictionServer} is where to begin. */
@NullMarked
package io.seriatim.examples.serve;

import org.jspecify.annotations.NullMarked;
