/** Reads MXNet's two kinds of files: symbols as JSON, and lists of arrays. */
@NullMarked
package io.seriatim.mxnet.read;

import org.jspecify.annotations.NullMarked;
