// Package page finds the requests a browser makes for a page beside the page itself: images, stylesheets, scripts, frames, icons, fonts.
//
// It follows the HTML standard (https://html.spec.whatwg.org/multipage/). Where the standard leaves a choice, such as the candidate
// of a srcset or the source of a picture, it follows Chromium on a desktop at a device pixel ratio of 1. Its opinion: a request that
// a browser makes and the package does not is a load the server never gets. So if only a layout would decide, as for an image with
// loading=lazy or the losing one of two background images, the package requests it.
//
// Scripts are requested and not run, so requests made by scripts are missing. The package fetches nothing.
package page
