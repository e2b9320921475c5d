/**
 * What the systems that read written files have: rewrites a program into operations of theirs, before it becomes a
 * file.
 */
@NullMarked
package io.seriatim.graph.dialect;

import org.jspecify.annotations.NullMarked;
