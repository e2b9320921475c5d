/**
 * Control flow, tensor lists, feeds, fetches, files, communication and debugging: the interpreter and executors carry
 * most of them out.
 */
@NullMarked
package io.seriatim.graph.ops.control;

import org.jspecify.annotations.NullMarked;
