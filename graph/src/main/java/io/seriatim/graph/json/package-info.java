/**
 * JSON as model files use it: a reader that checks what it reads and names the byte of an error, and a writer. It knows
 * nothing of models.
 */
@NullMarked
package io.seriatim.graph.json;

import org.jspecify.annotations.NullMarked;
