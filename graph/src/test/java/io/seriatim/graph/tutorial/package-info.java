/** The code of docs/add-an-operation.md. */
@NullMarked
package io.seriatim.graph.tutorial;

import org.jspecify.annotations.NullMarked;
