/** A web service that serves a model. Start with {@link io.seriatim.examples.serve.PredictionServer}. */
@NullMarked
package io.seriatim.examples.serve;

import org.jspecify.annotations.NullMarked;
