package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
)

// drawPhotos draws so many photos side by side, four in a row, each of a side in pixels, as a JPEG.
func drawPhotos(first, photos, side int) ([]byte, error) {
	rows := (photos + 3) / 4
	sheet := image.NewRGBA(image.Rect(0, 0, min(photos, 4)*side, rows*side))
	for n := range photos {
		at := image.Rect(n%4*side, n/4*side, (n%4+1)*side, (n/4+1)*side)
		draw.Draw(sheet, at, scaled(first+n, side), image.Point{}, draw.Src)
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, sheet, &jpeg.Options{Quality: 88})
	return out.Bytes(), err
}

// scaled is a photo in the size of a thumbnail.
func scaled(photo, side int) image.Image {
	small := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			small.SetRGBA(x, y, color.RGBA{R: uint8(x*photo + y), G: uint8(x ^ y), B: uint8(photo + x*y), A: 255})
		}
	}
	return small
}
